// The graph as a ring of units: edges coloured and weighed for one symbol, loops outside, biases inside the circles;
// beside it the writing weights as a heat map.

const MOST_EDGES = 500;
const SVG = "http://www.w3.org/2000/svg";

function shapeOf(kind, attributes, ...children) {
  const element = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Blue below 0, orange above, white at 0.
function signed(value, largest) {
  const at = 0.5 + 0.5 * Math.max(-1, Math.min(1, largest > 0 ? value / largest : 0));
  const k = Math.max(DIVERGING.findIndex(([edge]) => edge >= at), 1), [a, low] = DIVERGING[k - 1], [b, high] = DIVERGING[k];
  const part = (at - a) / (b - a), channel = (text, c) => parseInt(text.slice(1 + 2 * c, 3 + 2 * c), 16);
  return `rgb(${[0, 1, 2].map((c) => Math.round(channel(low, c) * (1 - part) + channel(high, c) * part)).join(",")})`;
}

class Graph {
  constructor(weights, units) {
    Object.assign(this, { weights, units, sources: unpack(weights.sources), targets: unpack(weights.targets) });
    this.edges = unpack(weights.edges);
    this.biases = unpack(weights.biases);
    this.order = units.orders[units.start];
    this.symbol = byId("graph-symbol");
    this.group = byId("graph-group");
    fill(this.symbol, weights.symbols.map((code, k) => [k, symbols[code]]), 0);
    fill(this.group, weights.groups.map((name, k) => [k, name]), 0);
    if (weights.groups.length < 2) hideChoice("graph-group");
    this.focus = null;
    this.symbol.addEventListener("change", () => this.show());
    this.group.addEventListener("change", () => this.show());
    this.show();
  }

  values() {
    const [groups, sets, edges] = this.weights.edges.shape, [, kinds, number] = this.weights.biases.shape;
    const g = Number(this.group.value), y = Number(this.symbol.value);
    const from = (g * sets + (sets === 1 ? 0 : y)) * edges, start = (g * kinds + y) * number;
    return { edges: this.edges.subarray(from, from + edges), biases: this.biases.subarray(start, start + number) };
  }

  // The 98th percentile, so that one large weight does not bleach the others.
  static largest(values) {
    const sorted = Array.from(values, Math.abs).filter(Number.isFinite).sort((a, b) => a - b);
    return sorted.length ? Math.max(sorted[Math.floor(0.98 * (sorted.length - 1))], 1e-9) : 1;
  }

  show() {
    const { edges, biases } = this.values(), number = this.units.number, radius = 205;
    const size = Math.max(3, Math.min(15, (0.8 * Math.PI * radius) / number));
    const angle = new Array(number), place = new Array(number);
    this.order.forEach((unit, k) => {
      angle[unit] = (2 * Math.PI * k) / number - Math.PI / 2;
      place[unit] = [radius * Math.cos(angle[unit]), radius * Math.sin(angle[unit])];
    });
    const largest = Graph.largest(this.edges), largestBias = Graph.largest(this.biases);
    const chosen = Array.from(edges.keys()).sort((a, b) => Math.abs(edges[a]) - Math.abs(edges[b])).slice(-MOST_EDGES);
    const picture = shapeOf("svg", {
      viewBox: "-262 -262 524 524", role: "img",
      "aria-label": `Graph of ${number} units with the weights on reading ${symbols[this.weights.symbols[Number(this.symbol.value)]]}`,
    });
    for (const e of chosen) picture.append(this.edge(e, edges[e], largest, angle, place, size));
    for (const unit of this.order) picture.append(this.node(unit, biases[unit], largestBias, angle[unit], place[unit], size));
    byId("graph").replaceChildren(picture);
    this.explain(edges, chosen.length, largest, largestBias);
  }

  edge(e, weight, largest, angle, place, size) {
    const i = this.sources[e], j = this.targets[e], strength = Math.min(Math.abs(weight) / largest, 1);
    const near = this.focus === null || i === this.focus || j === this.focus;
    const style = {
      fill: "none", stroke: weight < 0 ? "#2f7bb6" : "#d0621a", "stroke-width": (0.5 + 4 * strength).toFixed(2),
      "stroke-opacity": near ? (0.12 + 0.8 * strength).toFixed(3) : 0.04, class: "edge",
    };
    const title = shapeOf("title", {}, `${i} → ${j}: ${short(weight)}`);
    if (i === j) {
      const out = size + 9, [x, y] = [Math.cos(angle[i]), Math.sin(angle[i])];
      return shapeOf("circle", { ...style, cx: place[i][0] + out * x, cy: place[i][1] + out * y, r: 9 }, title);
    }
    // Edges bend towards the middle, those of opposite directions to different sides.
    const [x0, y0] = place[i], [x1, y1] = place[j];
    const cx = 0.32 * (x0 + x1) + 0.1 * (y1 - y0), cy = 0.32 * (y0 + y1) - 0.1 * (x1 - x0);
    const reach = Math.hypot(x1 - cx, y1 - cy), stop = (reach - size - 2) / reach, x = cx + (x1 - cx) * stop, y = cy + (y1 - cy) * stop;
    const group = shapeOf("g", {}, title, shapeOf("path", { ...style, d: `M${x0} ${y0}Q${cx} ${cy} ${x} ${y}` }));
    if (strength > 0.08) {
      const a = Math.atan2(y1 - cy, x1 - cx), wide = 3.5 + 4 * strength;
      const corner = (turn) => `${x - wide * 1.5 * Math.cos(a + turn)} ${y - wide * 1.5 * Math.sin(a + turn)}`;
      group.append(shapeOf("path", { d: `M${x} ${y}L${corner(0.4)}L${corner(-0.4)}Z`, fill: style.stroke, "fill-opacity": style["stroke-opacity"] }));
    }
    return group;
  }

  node(unit, bias, largest, angle, [x, y], size) {
    const focused = unit === this.focus;
    const node = shapeOf("g", { class: "node" }, shapeOf("title", {}, `unit ${unit}, bias ${short(bias)}`), shapeOf("circle", {
      cx: x, cy: y, r: size, fill: signed(bias, largest), stroke: focused ? INK : "#5b6169", "stroke-width": focused ? 2.5 : 1,
    }));
    if (size > 8) {
      const strong = Math.abs(bias) > 0.62 * largest;
      node.append(shapeOf("text", {
        x, y, "text-anchor": "middle", "dominant-baseline": "central", "font-size": Math.min(size * 0.95, 13),
        style: strong ? "fill:#fff" : "",
      }, String(unit)));
    }
    node.addEventListener("click", () => {
      this.focus = focused ? null : unit;
      this.show();
    });
    return node;
  }

  explain(edges, shown, largest, largestBias) {
    const { symbols: kept, alphabet } = this.weights, parts = [];
    parts.push("Orange raises the unit, blue lowers it; the wider, the stronger. The inside of a circle is the unit's bias. Click on a unit to see its edges alone.");
    if (shown < edges.length) parts.push(`The ${count(shown)} strongest of ${count(edges.length)} edges.`);
    if (kept.length < alphabet) parts.push(`The ${kept.length} most frequent of ${alphabet} symbols.`);
    byId("graph-hint").textContent = parts.join(" ");
    const gradient = `linear-gradient(to right, ${DIVERGING.map(([at, colour]) => `${colour} ${100 * at}%`).join(", ")})`;
    byId("graph-key").replaceChildren(...[["edges", largest], ["biases", largestBias]].map(([name, most]) => {
      const bar = make("i", { className: "bar" });
      bar.style.background = gradient;
      return make("span", { className: "item" }, `${name} −${short(most)}`, bar, `+${short(most)}`);
    }));
  }
}

function showWriting(weights, units) {
  const order = units.orders[units.start], values = unpack(weights.writing), width = weights.written.length;
  const names = weights.written.map((code) => plotText(shortened(symbols[code])));
  const z = order.map((unit) => Array.from(values.subarray((unit + 1) * width, (unit + 2) * width)));
  const largest = Graph.largest(values.subarray(width));
  function show() {
    const labels = units.number <= 40;
    draw("writing-chart", [{
      type: "heatmap", z, x: names.map((_, k) => k), y: order.map((_, k) => k), colorscale: DIVERGING, zmin: -largest, zmax: largest,
      customdata: order.map((unit) => names.map((name) => [unit, name])), xgap: width < 40 ? 1 : 0, ygap: units.number < 40 ? 1 : 0,
      hovertemplate: "unit %{customdata[0]}, %{customdata[1]}: %{z:.4~g}<extra></extra>",
      colorbar: { thickness: 9, len: 0.6, outlinewidth: 0, tickfont: { size: 11.5, color: "#5b6169" }, nticks: 5, x: 1.01, xpad: 4 },
    }], layout({
      hovermode: "closest", margin: { l: narrow() ? 46 : 56, r: 8, t: 10, b: 44 },
      xaxis: axis({
        fixedrange: true, showgrid: false, ticks: "", showline: false, tickvals: names.map((_, k) => k), ticktext: names,
        tickangle: width > 24 || names.some((name) => name.length > 3) ? -90 : 0, title: titled("symbol"),
        showticklabels: width <= 48, tickfont: { size: 12, color: INK },
      }),
      yaxis: axis({
        autorange: "reversed", fixedrange: true, showgrid: false, ticks: "", showline: false, title: titled("unit"),
        tickvals: order.map((_, k) => k), ticktext: order.map(String), showticklabels: labels,
      }),
    }));
  }
  redrawOnTurn(show);
  show();
}

if (data.inside && data.inside.weights) {
  later(() => new Graph(data.inside.weights, units));
  later(() => showWriting(data.inside.weights, units));
}
