// Runs of one symbol laid over one another: how a unit goes up while a's are read, and back down while b's are.

class Folds {
  constructor(inside, units) {
    this.folded = inside.folded;
    this.folds = inside.folds.map((found) => {
      const [runs, points] = found.positions.shape, positions = unpack(found.positions);
      const rows = (array) => Array.from({ length: runs }, (_, r) => Array.from(array.subarray(r * points, (r + 1) * points)));
      const shown = Object.fromEntries(Object.entries(found.shown).map(([name, packed]) => [name, unpackColumns(packed).map(rows)]));
      return { code: found.code, lengths: found.lengths, positions: rows(positions), shown };
    });
    this.unit = byId("fold-unit");
    this.align = byId("fold-align");
    const order = units.orders[units.start].filter((unit) => this.folded.includes(unit));
    fill(this.unit, order.map((unit) => [unit, `unit ${unit}`]), order[0]);
    this.what = byId("fold-show");
    this.quantity = units.quantity;
    if (this.folds[0].shown.held) this.what.value = units.show;
    else hideChoice("fold-show");
    this.what.addEventListener("change", () => this.show());
    this.unit.addEventListener("change", () => this.show());
    this.align.addEventListener("change", () => this.show());
    redrawOnTurn(() => this.show());
    this.show();
  }

  // How far runs are from one another when they are laid over each other, at a few places that all of them reach.
  spread(fold, activities, fromEnd) {
    const shortest = Math.min(...fold.lengths);
    let total = 0;
    for (let k = 0; k <= 20; k++) {
      const values = fold.lengths.map((length, r) => {
        const at = fromEnd ? length - (shortest * k) / 20 : (shortest * k) / 20;
        const place = (at / length) * (activities[r].length - 1), low = Math.floor(place), part = place - low;
        return activities[r][low] * (1 - part) + (activities[r][low + 1] ?? activities[r][low]) * part;
      });
      const mean = values.reduce((a, b) => a + b) / values.length;
      total += values.reduce((a, b) => a + (b - mean) ** 2, 0);
    }
    return total;
  }

  show() {
    const column = this.folded.indexOf(Number(this.unit.value)), traces = [], shape = {}, panels = this.folds.length;
    const gap = narrow() ? 0.14 : 0.05, width = (1 - gap * (panels - 1)) / panels;
    this.folds.forEach((fold, k) => {
      const activities = fold.shown[this.what.value][column], colour = symbolColour(fold.code), suffix = k ? String(k + 1) : "";
      const fromEnd = this.align.value === "end" || (this.align.value === "best"
        && this.spread(fold, activities, true) < this.spread(fold, activities, false));
      const x = (r, at) => (fromEnd ? fold.lengths[r] - at : at);
      activities.forEach((values, r) => {
        const common = { type: "scatter", xaxis: "x" + suffix, yaxis: "y", showlegend: false };
        traces.push(
          { ...common, mode: "lines", x: fold.positions[r].map((at) => x(r, at)), y: values,
            line: { color: colour, width: 1.6 }, opacity: 0.75,
            hovertemplate: `run of ${count(fold.lengths[r])}: %{y:.4~g}<extra></extra>` },
          { ...common, mode: "markers", x: [x(r, fold.lengths[r])], y: [values[values.length - 1]], hoverinfo: "skip",
            marker: { color: colour, size: 8, line: { color: "#fff", width: 1.5 } } },
        );
      });
      const name = plotText(symbols[fold.code]);
      shape["xaxis" + suffix] = axis({
        domain: [k * (width + gap), k * (width + gap) + width], anchor: "y", nticks: narrow() ? 3 : 6, tickformat: ",d",
        title: titled(fromEnd ? `${name} still to come` : `${name} read`), autorange: fromEnd ? "reversed" : true,
      });
    });
    shape.yaxis = axis({ title: titled(`${this.quantity[this.what.value]} of unit ${this.unit.value}`), nticks: 6 });
    draw("folds-chart", traces, layout({ ...shape, hovermode: "closest", margin: { l: narrow() ? 46 : 62, r: 14, t: 14, b: 44 } }));
  }
}

if (data.inside) {
  if (data.inside.folds.length) later(() => new Folds(data.inside, units));
  else byId("folds-part").hidden = true;
}
