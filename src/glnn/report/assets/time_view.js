// A window on a long sequence: which positions are in view, the buttons that move it, and the symbols on the axis.

// Names of symbols on an axis take no more room than this.
function shortened(text, most = 16) {
  const letters = Array.from(text);
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : text;
}

class TimeView {
  constructor(name, length, show) {
    Object.assign(this, { name, length, show, low: 0, high: length });
    const buttons = byId(name + "-zoom");
    buttons.addEventListener("click", (event) => {
      const move = event.target.dataset.move;
      if (move) this.move(move);
    });
  }

  get count() {
    return this.high - this.low;
  }

  move(how) {
    const span = this.count, middle = (this.low + this.high) / 2;
    if (how === "all") this.set(0, this.length);
    else if (how === "in") this.set(middle - span / 4, middle + span / 4);
    else if (how === "out") this.set(middle - span, middle + span);
    else if (how === "left") this.shift(-span / 2);
    else this.shift(span / 2);
  }

  shift(by) {
    const span = this.count, low = Math.min(Math.max(Math.round(this.low + by), 0), this.length - span);
    this.set(low, low + span);
  }

  set(low, high) {
    low = Math.max(Math.round(low), 0);
    high = Math.min(Math.round(high), this.length);
    const least = Math.min(8, this.length);
    if (high - low < least) {
      low = Math.min(Math.max(Math.round((low + high - least) / 2), 0), this.length - least);
      high = low + least;
    }
    this.low = low;
    this.high = high;
    byId(this.name + "-range").textContent = `${count(low)} – ${count(high - 1)} of ${count(this.length)} symbols`;
    this.show();
  }

  // Zooming by dragging tells the chart's new range; a double click tells none.
  follow(chart) {
    if (chart.followed) return;
    chart.followed = true;
    chart.on("plotly_relayout", (change) => {
      const low = change["xaxis.range[0]"] ?? change["xaxis.range"]?.[0];
      const high = change["xaxis.range[1]"] ?? change["xaxis.range"]?.[1];
      if (low !== undefined && high !== undefined) this.set(low + 0.5, high + 0.5);
      else if (change["xaxis.autorange"]) this.set(0, this.length);
    });
    chart.on("plotly_doubleclick", () => this.set(0, this.length));
  }

  // How many symbols can be written under a chart.
  static readable(chart) {
    const long = symbols.some((text) => Array.from(text).length > 1);
    return Math.floor((chart.clientWidth - (narrow() ? 60 : 80)) / (long ? 17 : 10.5));
  }

  // Ticks: the symbols themselves when all of them fit, positions otherwise.
  axis(chart, codeAt, title) {
    const width = chart.clientWidth - (narrow() ? 60 : 80);
    const shown = axis({ range: [this.low - 0.5, this.high - 0.5], title: titled(title), showgrid: false });
    const positions = Array.from({ length: Math.min(this.count, 400) }, (_, k) => this.low + k);
    const texts = this.count <= 400 ? positions.map((t) => shortened(symbols[codeAt(t)] ?? "")) : [];
    const longest = Math.max(...texts.map((text) => Array.from(text).length), 0);
    if (this.count <= 400 && this.count * 10.5 <= width && (longest === 1 || this.count * 17 <= width)) {
      const upright = longest * 8 * this.count <= width;
      Object.assign(shown, {
        tickmode: "array", tickvals: positions, ticktext: texts.map(plotText), tickangle: upright ? 0 : -90, ticks: "",
        tickfont: { family: "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace", size: longest > 8 ? 11 : 13, color: INK },
      });
    } else {
      Object.assign(shown, { tickformat: ",d", nticks: narrow() ? 5 : 9, hoverformat: ",d" });
    }
    return shown;
  }

  // Bins of equally many positions that cover the view: their edges, and the width of a bin.
  bins(most) {
    const width = Math.max(1, Math.ceil(this.count / most));
    const edges = [];
    for (let t = this.low; t < this.high; t += width) edges.push(t);
    edges.push(this.high);
    return { edges, width };
  }
}

// Few symbols have a colour each: a strip of colours shows them when they are too many to be written.
const MOST_COLOURED = 8;
const coloured = () => symbols.length <= MOST_COLOURED;
const TINTS = ["#7fb5d8", "#eda679", "#74c4a8", "#dba9c8", "#b5d9ef", "#eec277", "#b49cc4", "#aab0b7"];
// What separates is grey; the others have the colours of the charts, in their order.
const SEPARATORS = ["⏎", "·", "⇥", "␍", "⟨end⟩"];
const others = symbols.filter((text) => !SEPARATORS.includes(text));
const symbolTint = (k) => (SEPARATORS.includes(symbols[k]) ? "#3c4148" : TINTS[others.indexOf(symbols[k]) % TINTS.length]);
const symbolColour = (k) => (SEPARATORS.includes(symbols[k]) ? "#3c4148" : COLOURS[others.indexOf(symbols[k]) % COLOURS.length]);

function strip(view, codes, edges, width) {
  const most = edges.slice(0, -1).map((begin, k) => {
    const counts = new Map();
    for (let t = begin; t < edges[k + 1]; t++) counts.set(codes[t], (counts.get(codes[t]) ?? 0) + 1);
    return [...counts].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
  });
  const steps = symbols.flatMap((_, k) => [[k / symbols.length, symbolTint(k)], [(k + 1) / symbols.length, symbolTint(k)]]);
  return {
    type: "heatmap", z: [most], x0: view.low + (width - 1) / 2, dx: width, y: [0], zmin: -0.5, zmax: symbols.length - 0.5,
    colorscale: steps, showscale: false, hoverinfo: "skip", xaxis: "x", yaxis: "y9",
  };
}

function symbolKey(name) {
  if (!coloured()) return;
  byId(name).append(...symbols.map((text, k) => {
    const square = make("i", {});
    square.style.background = symbolTint(k);
    return make("span", { className: "item" }, square, text);
  }));
}
