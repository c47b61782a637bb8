// What all charts share: the packed numbers, colours that everyone can tell apart, axes, and texts that stay texts.

const data = JSON.parse(document.getElementById("data").textContent);
const symbols = data.symbols;

// Okabe and Ito's palette, the yellow left out: too light on white.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7a5195", "#5b6169"];
const BLUE = "#0072b2", ORANGE = "#d55e00", GREEN = "#009e73", PURPLE = "#a0568c", GREY = "#8b9199", INK = "#22252a";
const DIVERGING = [
  [0, "#0b4f8a"], [0.15, "#2f7bb6"], [0.32, "#8fbadb"], [0.5, "#f7f6f4"], [0.68, "#f2b98f"], [0.85, "#d9712c"], [1, "#9c3a04"],
];
const SANS = getComputedStyle(document.documentElement).getPropertyValue("--sans").trim();

const narrow = () => window.matchMedia("(max-width: 760px)").matches;
const byId = (name) => document.getElementById(name);

// plotly reads tags and entities in every text it is given: a symbol must not become one.
function plotText(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function make(kind, properties, ...children) {
  const element = document.createElement(kind);
  Object.assign(element, properties);
  element.append(...children);
  return element;
}

function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function halfToFloat(half) {
  const sign = half & 0x8000 ? -1 : 1, exponent = (half >> 10) & 0x1f, fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

// The inverse of glnn.report.packing; the numbers are little-endian, as on every machine that shows this.
function unpack(packed) {
  const bytes = bytesOf(packed.data), buffer = bytes.buffer;
  if (packed.type === "u1") return bytes;
  if (packed.type === "u2") return new Uint16Array(buffer);
  if (packed.type === "u4") return new Uint32Array(buffer);
  return Float32Array.from(new Uint16Array(buffer), halfToFloat);
}

// One Float64Array for each column.
function unpackColumns(packed) {
  const [rows, columns] = packed.shape, steps = new Uint16Array(bytesOf(packed.data).buffer);
  return Array.from({ length: columns }, (_, j) =>
    Float64Array.from(steps.subarray(j * rows, (j + 1) * rows), (step) => packed.low[j] + packed.step[j] * step));
}

const integer = new Intl.NumberFormat("en");
const count = (value) => integer.format(Math.round(value));
function short(value) {
  if (value === null || !Number.isFinite(value)) return "∞";
  return Math.abs(value) >= 1000 ? count(value) : String(Number(value.toPrecision(3)));
}

function axis(changes) {
  return Object.assign({
    gridcolor: "#ebecee", linecolor: "#c3c7cc", tickcolor: "#c3c7cc", zeroline: false, showline: true, ticks: "outside",
    ticklen: 4, automargin: true, title: { text: "", font: { size: 13, color: "#5b6169" }, standoff: 8 },
    tickfont: { size: 12, color: "#5b6169" },
  }, changes);
}

// Ticks of a logarithmic axis: 1, 2, 5 when it spans little, powers of ten otherwise.
function logTicks(values) {
  const positive = values.filter((value) => value > 0), decades = Math.log10(Math.max(...positive) / Math.min(...positive));
  return decades > 2.2 ? 1 : "D2";
}

const titled = (text, standoff = 8) => ({ text, font: { size: 13, color: "#5b6169" }, standoff });

function layout(changes) {
  return Object.assign({
    font: { family: SANS, size: 12.5, color: INK }, paper_bgcolor: "#fff", plot_bgcolor: "#fff",
    modebar: { bgcolor: "rgba(255,255,255,0)", color: "#a6abb2", activecolor: INK },
    margin: { l: narrow() ? 46 : 62, r: narrow() ? 8 : 14, t: 30, b: 44 }, autosize: true, hovermode: "x unified",
    hoverlabel: { bgcolor: "#fff", bordercolor: "#c3c7cc", font: { family: SANS, size: 12.5, color: INK } },
    legend: { orientation: "h", traceorder: "normal", x: 0, xanchor: "left", y: 1.02, yanchor: "bottom", font: { size: 13 }, bgcolor: "rgba(0,0,0,0)" },
    // On a phone a finger that moves over a chart scrolls the page; the buttons zoom.
    dragmode: narrow() ? false : "zoom", colorway: COLOURS,
  }, changes);
}

// The only button saves the picture: plotly's own would also offer to send the data to a server.
const CONFIG = {
  displaylogo: false, responsive: true, showTips: false, displayModeBar: "hover", showSendToCloud: false, plotlyServerURL: "",
  modeBarButtons: [["toImage"]], toImageButtonOptions: { format: "svg", filename: "glnn" },
};

const draw = (name, traces, shape) => Plotly.react(byId(name), traces, shape, CONFIG);

function fill(select, options, chosen) {
  select.replaceChildren(...options.map(([value, text]) => make("option", { value, textContent: text })));
  if (chosen !== undefined) select.value = chosen;
}

function hideChoice(name) {
  byId(name).closest("label").hidden = true;
}

// Charts are drawn one after the other, so that the first is there before the last is begun.
const waiting = [];
const later = (draws) => waiting.push(draws);
function drawWaiting() {
  const draws = waiting.shift();
  if (!draws) {
    document.documentElement.dataset.drawn = "all";
    return;
  }
  draws();
  setTimeout(drawWaiting);
}

// The charts are laid out anew when the window passes the width of the other layout.
const redraws = [];
function redrawOnTurn(draws) {
  redraws.push(draws);
}
window.matchMedia("(max-width: 760px)").addEventListener("change", () => redraws.forEach((draws) => draws()));
