// Units at work: a heat map of all of them over the symbols, and chosen ones as curves above it.

const UNIT_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#a0568c", "#e69f00", "#3a8fc4", "#7a5195", "#5b6169"];

// Orders and names of the units, shared by all charts of this part.
class Units {
  constructor(inside) {
    this.number = inside.units;
    const all = Array.from({ length: inside.units }, (_, j) => j);
    const falling = (key) => all.slice().sort((a, b) => (key[b] ?? Infinity) - (key[a] ?? Infinity) || a - b);
    const scales = inside.timeScales;
    const times = scales && all.map((j) => scales.measured[j] ?? 0);
    this.orders = { number: all, varies: falling(inside.varies) };
    if (times) this.orders.time = falling(times);
    const { activity, held } = inside.ramps ?? {};
    const strongest = activity && activity.map((value, j) => Math.max(value, held ? held[j] : 0));
    if (strongest && Math.max(...strongest) > 0.05) this.orders.ramp = falling(strongest);
    this.start = this.orders.ramp ? "ramp" : this.orders.time ? "time" : "varies";
    // Where what units hold ramps more than their activities do, that is what to look at.
    this.show = held && this.orders.ramp && Math.max(...held) > Math.max(...activity) ? "held" : "activity";
    // Curves to begin with: the units that ramp about as strongly as the first, or the first few of another order.
    const first = this.orders[this.start];
    this.chosen = first.slice(0, 3).filter((j) => this.start !== "ramp" || strongest[j] > 0.4 * strongest[first[0]]);
    this.quantity = { activity: "activity", held: inside.heldName };
  }
}

class ActivityChart {
  constructor(inside, units) {
    this.units = units;
    this.codes = unpack(inside.codes);
    this.shown = Object.fromEntries(Object.entries(inside.shown).map(([name, packed]) => [name, unpackColumns(packed)]));
    this.starts = inside.starts;
    this.what = byId("unit-show");
    if (this.shown.held) this.what.value = units.show;
    else hideChoice("unit-show");
    this.chart = byId("activity-chart");
    this.order = byId("unit-order");
    this.colours = byId("unit-colours");
    for (const option of [...this.order.options]) if (!units.orders[option.value]) option.remove();
    this.order.value = units.start;
    this.chosen = units.chosen;
    this.view = new TimeView("activity", this.codes.length, () => this.show());
    this.order.addEventListener("change", () => this.show());
    this.what.addEventListener("change", () => this.show());
    this.colours.addEventListener("change", () => this.show());
    symbolKey("activity-key");
    this.scale = make("span", { className: "item" });
    byId("activity-key").prepend(this.scale);
    // Ramps are seen from afar; anything else where the symbols can be read.
    this.view.set(0, units.start === "ramp" ? this.codes.length : TimeView.readable(this.chart));
    redrawOnTurn(() => this.show());
  }

  colour(unit) {
    return UNIT_COLOURS[this.chosen.indexOf(unit) % UNIT_COLOURS.length];
  }

  toggle(unit) {
    this.chosen = this.chosen.includes(unit) ? this.chosen.filter((j) => j !== unit) : [...this.chosen, unit];
    this.show();
  }

  chips(order) {
    byId("unit-chips").replaceChildren(...order.slice(0, 96).map((unit) => {
      const pressed = this.chosen.includes(unit);
      const chip = make("button", { type: "button", textContent: unit, ariaPressed: String(pressed), title: `unit ${unit}` });
      chip.setAttribute("aria-pressed", String(pressed));
      if (pressed) chip.style.background = this.colour(unit);
      chip.addEventListener("click", () => this.toggle(unit));
      return chip;
    }));
  }

  // Without the outermost hundredth on both sides: a jump between two runs would bleach everything else.
  static range(values) {
    const sorted = values.slice().sort(), last = sorted.length - 1;
    return [sorted[Math.floor(0.01 * last)], sorted[Math.ceil(0.99 * last)]];
  }

  means(unit, edges) {
    const a = this.columns[unit];
    return edges.slice(0, -1).map((begin, k) => {
      let sum = 0;
      for (let t = begin; t < edges[k + 1]; t++) sum += a[t];
      return sum / (edges[k + 1] - begin);
    });
  }

  show() {
    this.columns = this.shown[this.what.value];
    this.ranges = this.columns.map(ActivityChart.range);
    const quantity = this.units.quantity[this.what.value];
    const { view, chart } = this, order = this.units.orders[this.order.value], own = this.colours.value === "own";
    const { edges, width } = view.bins(Math.min(1400, Math.max(chart.clientWidth, 300) * 1.5));
    const x = edges.slice(0, -1).map((begin, k) => (begin + edges[k + 1] - 1) / 2);
    const means = order.map((unit) => this.means(unit, edges));
    const limit = Math.max(...this.ranges.flat().map(Math.abs), 1e-9), bound = limit <= 1 && limit > 0.2 ? 1 : limit;
    const z = order.map((unit, row) => {
      const [low, high] = this.ranges[unit];
      return own ? means[row].map((a) => (high > low ? (2 * (a - low)) / (high - low) - 1 : 0)) : means[row];
    });
    const traces = this.chosen.map((unit) => ({
      type: "scatter", mode: "lines", name: `unit ${unit}`, x, y: means[order.indexOf(unit)], yaxis: "y",
      line: { color: this.colour(unit), width: 2 }, hovertemplate: "%{y:.4~g}",
    }));
    traces.push({
      type: "heatmap", z, x, y: order.map((unit) => `unit ${unit}`), yaxis: "y2", xaxis: "x", showscale: false,
      colorscale: DIVERGING, zmin: own ? -1 : -bound, zmax: own ? 1 : bound,
      customdata: means, hovertemplate: "%{y} at %{x:,.0f}: %{customdata:.4~g}<extra></extra>",
    });
    const withStrip = coloured();
    if (withStrip) traces.push(strip(view, this.codes, edges, width));
    const base = withStrip ? 0.055 : 0;
    const title = width === 1 ? "symbols" : `position (each column is ${count(width)} symbols)`;
    const labels = this.units.number <= (narrow() ? 24 : 32);
    const shape = layout({
      hovermode: "closest",
      xaxis: Object.assign(view.axis(chart, (t) => this.codes[t], title), { anchor: withStrip ? "y9" : "y2" }),
      yaxis: axis({ domain: [0.66, 1], title: titled(quantity), nticks: 5, fixedrange: true }),
      yaxis2: axis({
        domain: [base, 0.61], type: "category", autorange: "reversed", fixedrange: true, ticks: "", showgrid: false, showline: false,
        showticklabels: labels, tickmode: "array", tickvals: order.map((unit) => `unit ${unit}`), ticktext: order.map(String),
        title: titled("unit"), tickfont: { size: this.units.number > 20 ? 9.5 : 12, color: "#5b6169" },
      }),
      shapes: this.boundaries(),
    });
    if (withStrip) shape.yaxis9 = { domain: [0, 0.035], visible: false, fixedrange: true, range: [-0.5, 0.5] };
    draw("activity-chart", traces, shape);
    view.follow(chart);
    if (!this.clickable) {
      this.clickable = true;
      chart.on("plotly_click", (event) => {
        const point = event.points.find((found) => found.data.type === "heatmap" && typeof found.y === "string");
        if (point) this.toggle(Number(point.y.slice(5)));
      });
    }
    this.chips(order);
    this.explain(own, bound);
  }

  explain(own, bound) {
    const bar = make("i", { className: "bar" });
    bar.style.background = `linear-gradient(to right, ${DIVERGING.map(([at, colour]) => `${colour} ${100 * at}%`).join(", ")})`;
    const ends = own ? ["lowest", "highest of the unit"] : [`−${short(bound)}`, `+${short(bound)}`];
    this.scale.replaceChildren(ends[0], bar, ends[1]);
  }

  boundaries() {
    const { low, high } = this.view, inside = this.starts.filter((t) => t > low && t < high);
    if (inside.length > 60) return [];
    return inside.map((t) => ({
      type: "line", xref: "x", yref: "paper", x0: t - 0.5, x1: t - 0.5, y0: 0, y1: 1, line: { color: "#8b9199", width: 1 },
    }));
  }
}

const units = data.inside ? new Units(data.inside) : null;
if (data.inside) later(() => new ActivityChart(data.inside, units));
