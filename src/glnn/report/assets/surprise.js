// Bits along the sequence, at the resolution that the view allows; the symbols in view as a text one can read.

const MOST_READ = 1200;

// White for what was expected, deeper orange the more bits a symbol cost; 8 bits and more look alike.
function heat(bits) {
  const strength = Math.min((bits ?? 99) / 8, 1) ** 0.7;
  return strength < 0.02 ? "transparent" : `rgba(226, 106, 30, ${(0.78 * strength).toFixed(3)})`;
}

class Reading {
  constructor() {
    this.pane = byId("reading");
    this.hint = byId("reading-hint");
    this.apart = symbols.some((text) => Array.from(text).length > 1 && !/^(U\+|\\x|⟨|◌)/.test(text));
    if (this.apart) this.pane.classList.add("apart");
  }

  // `read(t)` gives [code, bits]; long quiet runs of one symbol are told by their length.
  show(begin, end, read, here) {
    const nodes = [], last = Math.min(end, begin + 60000);
    let t = begin, written = 0;
    while (t < last && written < MOST_READ) {
      const [code, bits] = read(t);
      const run = this.quietRun(t, last, code, read, here);
      if (run > 16) {
        for (let k = 0; k < 3; k++) nodes.push(this.symbol(t + k, code, read(t + k)[1], here));
        nodes.push(make("span", { className: "more", textContent: `⋯ ${count(run - 6)} more ⋯` }));
        for (let k = run - 3; k < run; k++) nodes.push(this.symbol(t + k, code, read(t + k)[1], here));
        t += run;
        written += 7;
      } else {
        nodes.push(this.symbol(t, code, bits, here));
        t += 1;
        written += 1;
      }
      if (symbols[code] === "⏎" || symbols[code] === "⟨end⟩") nodes.push(document.createTextNode("\n"));
    }
    this.pane.replaceChildren(...nodes);
    const marked = this.pane.querySelector(".here");
    this.pane.scrollTop = marked ? Math.max(marked.offsetTop - this.pane.offsetTop - 100, 0) : 0;
    this.hint.textContent = `Positions ${count(begin)} to ${count(t - 1)}; the deeper the colour, the more bits the symbol cost.`;
  }

  quietRun(t, last, code, read, here) {
    let end = t;
    while (end < last && end !== here) {
      const [next, bits] = read(end);
      if (next !== code || !(bits < 0.5)) break;
      end += 1;
    }
    return end - t;
  }

  symbol(position, code, bits, here) {
    const text = symbols[code] ?? "?";
    const cost = Number.isNaN(bits) ? "not to be predicted" : `${short(bits)} bits`;
    const node = make("span", { className: "s", textContent: text, title: `${text} at ${count(position)}: ${cost}` });
    if (["·", "⏎", "⇥"].includes(text) && !(bits > 0.5)) node.classList.add("unseen");
    if (!Number.isNaN(bits)) node.style.background = heat(bits);
    if (position === here) node.classList.add("here");
    return node;
  }
}

class SurpriseChart {
  constructor(given) {
    Object.assign(this, { given, codes: unpack(given.codes), bits: unpack(given.bits), chart: byId("surprise-chart") });
    if (given.mask) this.mask = unpack(given.mask);
    if (given.bins) this.binned = { edges: given.bins.edges, mean: unpack(given.bins.mean), most: unpack(given.bins.most) };
    this.reading = new Reading();
    this.view = new TimeView("surprise", given.length, () => this.show());
    this.place = given.places[0] ?? null;
    symbolKey("surprise-key");
    this.listPlaces();
    byId("surprise").addEventListener("click", (event) => {
      const { begin, end } = event.target.dataset;
      if (begin !== undefined) this.look(Number(begin), Number(end));
    });
    this.view.set(0, given.length);
    redrawOnTurn(() => this.show());
  }

  // Mean and largest bits over the bins of the view.
  resolve() {
    const { view, given } = this;
    if (view.high > given.full) return this.resolveCoarsely();
    const { edges, width } = view.bins(2400);
    const x = [], mean = [], most = [];
    for (let k = 0; k + 1 < edges.length; k++) {
      let sum = 0, largest = 0;
      for (let t = edges[k]; t < edges[k + 1]; t++) {
        sum += this.bits[t];
        largest = Math.max(largest, this.bits[t]);
      }
      x.push((edges[k] + edges[k + 1] - 1) / 2);
      mean.push(sum / (edges[k + 1] - edges[k]));
      most.push(largest);
    }
    return { x, mean, most, edges, width };
  }

  resolveCoarsely() {
    const { edges, mean, most } = this.binned, chosen = [];
    for (let k = 0; k + 1 < edges.length; k++) if (edges[k + 1] > this.view.low && edges[k] < this.view.high) chosen.push(k);
    return {
      x: chosen.map((k) => (edges[k] + edges[k + 1]) / 2), mean: chosen.map((k) => mean[k]), most: chosen.map((k) => most[k]),
      edges: null, width: edges[1] - edges[0],
    };
  }

  show() {
    const { view, chart } = this, { x, mean, most, edges, width } = this.resolve();
    const finite = most.filter(Number.isFinite), top = Math.max(...finite, 0.01) * 1.08;
    const capped = most.map((value) => (Number.isFinite(value) ? value : top));
    const traces = [];
    if (width === 1) {
      traces.push({
        type: "bar", x, y: capped, name: "bits", marker: { color: ORANGE, line: { width: 0 } }, width: view.count < 150 ? 0.72 : 1,
        hovertemplate: "%{y:.4~g} bits<extra>%{x:,d}</extra>",
      });
    } else {
      const stepped = (name, y, colour, fillcolor) => ({
        type: "scatter", mode: "lines", name, x, y, line: { color: colour, width: 1.4, shape: "hvh" }, fill: "tozeroy", fillcolor,
        hovertemplate: "%{y:.4~g}",
      });
      traces.push(stepped("most", capped, ORANGE, "rgba(213, 94, 0, 0.13)"), stepped("mean", mean, BLUE, "rgba(0, 114, 178, 0.25)"));
    }
    const withStrip = coloured() && edges !== null;
    if (withStrip) traces.push(strip(view, this.codes, edges, width));
    const codeAt = (t) => (t < this.given.full ? this.codes[t] : undefined);
    const title = width === 1 ? "symbols" : `position (each step is ${count(width)} symbols)`;
    const shape = layout({
      hovermode: width === 1 ? "closest" : "x unified", bargap: 0, showlegend: width > 1,
      xaxis: Object.assign(view.axis(chart, codeAt, title), { anchor: withStrip ? "y9" : "y" }),
      yaxis: axis({ title: titled("bits"), range: [0, top], fixedrange: true, nticks: 5, domain: withStrip ? [0.1, 1] : [0, 1] }),
      shapes: this.boundaries(),
    });
    if (withStrip) shape.yaxis9 = { domain: [0, 0.05], visible: false, fixedrange: true, range: [-0.5, 0.5] };
    draw("surprise-chart", traces, shape);
    view.follow(chart);
    this.read();
  }

  // Where sequences begin, as long as that leaves something to see.
  boundaries() {
    const { low, high } = this.view;
    const inside = this.given.starts.filter((t) => t > low && t < high);
    if (inside.length > 60) return [];
    return inside.map((t) => ({
      type: "line", xref: "x", yref: "paper", x0: t - 0.5, x1: t - 0.5, y0: 0, y1: 1, line: { color: "#c3c7cc", width: 1 },
    }));
  }

  read() {
    const { view, given, place } = this;
    const known = (t) => [this.codes[t], this.mask && !this.mask[t] ? NaN : this.bits[t]];
    if (place && place.position >= view.low && place.position < view.high && view.count > 2 * MOST_READ) {
      const from = (t) => [place.codes[t - place.begin], place.bits[t - place.begin] ?? Infinity];
      this.reading.show(place.begin, place.begin + place.codes.length, from, place.position);
    } else if (view.low < given.full) {
      this.reading.show(view.low, Math.min(view.high, given.full), known, place ? place.position : -1);
    } else {
      this.reading.pane.textContent = "";
      this.reading.hint.textContent = `Only the first ${count(given.full)} symbols are kept one by one in this page.`;
    }
  }

  look(begin, end) {
    this.view.set(begin, end);
    byId("surprise").scrollIntoView();
  }

  listPlaces() {
    const list = byId("places");
    this.given.places.forEach((place) => {
      const at = place.position - place.begin, gap = this.reading.apart ? " " : "";
      const text = (codes) => make("span", { textContent: gap + codes.map((code) => symbols[code]).join(gap) + gap });
      const around = make("span", { className: "around" }, text(place.codes.slice(Math.max(at - 12, 0), at)),
        make("b", { textContent: symbols[place.codes[at]] }), text(place.codes.slice(at + 1, at + 13)));
      const button = make("button", { type: "button" },
        make("span", { className: "bits", textContent: place.bits[at] === null ? "∞ bits" : `${place.bits[at].toFixed(1)} bits` }),
        make("span", { className: "where", textContent: place.name ? `in ${place.name}` : `at ${count(place.position)}` }), around);
      if (place.expected) {
        const [code, likely, given] = place.expected;
        const said = `expected ${symbols[code]} ${likely}, got ${symbols[place.codes[at]]} ${given}`;
        button.append(make("span", { className: "instead", textContent: said }));
      }
      button.addEventListener("click", () => {
        this.place = place;
        const half = Math.min(30, TimeView.readable(this.chart) / 2);
        this.look(place.position - half, place.position + half);
      });
      list.append(make("li", {}, button));
    });
  }
}
if (data.surprise) later(() => new SurpriseChart(data.surprise));
