// Models and baselines on the same data: bars from the fewest bits to the most, and how each came there.

const GROUP_COLOURS = { network: BLUE, baseline: "#9aa0a8", compressor: "#c6cacf" };

function showBars(comparison) {
  const chart = byId("comparison-bars");
  const rows = comparison.rows.filter((row) => row.group !== "true model" && row.bits !== null);
  const truth = comparison.rows.find((row) => row.group === "true model");
  function show() {
    chart.style.height = `${rows.length * 30 + 74}px`;
    const shapes = truth ? [{
      type: "line", xref: "x", yref: "paper", x0: truth.bits, x1: truth.bits, y0: 0, y1: 1, line: { color: INK, width: 1.3, dash: "dot" },
    }] : [];
    const annotations = truth ? [{
      xref: "x", yref: "paper", x: truth.bits, y: 1, yanchor: "bottom", xanchor: "left", showarrow: false,
      text: plotText(truth.name), font: { size: 12.5, color: INK },
    }] : [];
    draw("comparison-bars", [{
      type: "bar", orientation: "h", x: rows.map((row) => row.bits), y: rows.map((_, k) => k), width: 0.66,
      marker: { color: rows.map((row) => GROUP_COLOURS[row.group] ?? GREY) }, cliponaxis: false,
      text: rows.map((row) => count(row.bits)), textposition: "outside", constraintext: "none",
      textfont: { size: 12.5, color: INK }, hoverinfo: "skip",
    }], layout({
      shapes, annotations, hovermode: false, dragmode: false,
      margin: { l: 20, r: narrow() ? 14 : 24, t: 26, b: 44 },
      // Beside the longest bar there is room for its number.
      xaxis: axis({ title: titled("bits"), range: [0, (narrow() ? 1.35 : 1.1) * Math.max(...rows.map((row) => row.bits))], fixedrange: true, nticks: narrow() ? 4 : 8, tickformat: "~s" }),
      yaxis: axis({
        autorange: "reversed", fixedrange: true, tickvals: rows.map((_, k) => k), ticks: "", showline: false, showgrid: false,
        ticktext: rows.map((row) => plotText(row.name)), tickfont: { size: 13, color: INK },
      }),
    }));
  }
  redrawOnTurn(show);
  show();
}

function showCurves(comparison) {
  const rows = comparison.rows.filter((row) => row.curve[0].length > 1);
  const flat = comparison.rows.filter((row) => row.curve[0].length <= 1 && row.bits !== null);
  const last = Math.max(...rows.flatMap((row) => row.curve[0]));
  function show() {
    const traces = rows.map((row, k) => ({
      type: "scatter", mode: "lines", name: plotText(row.name), x: row.curve[0], y: row.curve[1],
      line: { color: COLOURS[k % COLOURS.length], width: 2, dash: k < COLOURS.length ? "solid" : "dash" }, hovertemplate: "%{y:,.5~g}",
    }));
    flat.forEach((row) => traces.push({
      type: "scatter", mode: "lines", name: plotText(row.name), x: [0, last], y: [row.bits, row.bits], hovertemplate: "%{y:,.5~g}",
      line: { color: row.group === "true model" ? INK : GREY, width: 1.2, dash: "dot" },
    }));
    const bits = traces.flatMap((trace) => trace.y).filter((value) => value > 0);
    const logarithmic = Math.max(...bits) > 6 * Math.min(...bits);
    draw("comparison-curves", traces, layout({
      margin: { l: narrow() ? 46 : 62, r: 14, t: narrow() ? 90 : 54, b: 44 },
      xaxis: axis({ title: titled("CPU seconds"), rangemode: "tozero" }),
      yaxis: axis({ title: titled("bits"), type: logarithmic ? "log" : "linear", dtick: logarithmic ? logTicks(bits) : undefined, tickformat: "~s" }),
    }));
  }
  redrawOnTurn(show);
  show();
}
if (data.comparison) {
  later(() => showBars(data.comparison));
  if (byId("comparison-curves")) later(() => showCurves(data.comparison));
}
