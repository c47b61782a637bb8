// Training: bits, learning rates on a logarithmic axis, rejected tries; against CPU seconds or steps.

function showLearning(learning) {
  const axisChoice = byId("learning-axis"), scaleChoice = byId("learning-scale");
  const all = [...learning.train, ...(learning.validation ?? [])].filter((value) => value > 0);
  // A curve that falls by much is flat on a linear axis.
  scaleChoice.value = Math.max(...all) / Math.min(...all) > 4 ? "log" : "linear";

  const rates = [...learning.writingRate, ...learning.transitionRate].filter((rate) => rate !== null);
  // Every power of ten, or every second or third one when there are many.
  const decades = Math.log10(Math.max(...rates) / Math.min(...rates)), rateTicks = decades < 1.5 ? "D2" : Math.ceil(decades / 4);

  // Whole numbers only: a step is rejected or not. Without any, the axis still goes from 0 to 1.
  const most = Math.max(1, ...(learning.writingRejected ?? []).map((tries, k) => tries + learning.transitionRejected[k]));

  // Validation data are not scored after every step: a line goes on to the next score.
  const line = (name, x, y, colour, on, dash) => ({
    type: "scatter", mode: "lines", name, x, y, yaxis: on, line: { color: colour, width: 2, dash }, connectgaps: true,
    hovertemplate: "%{y:.5~g}",
  });
  const bars = (name, x, y, colour) => ({
    type: "bar", name, x, y, yaxis: "y3", marker: { color: colour, line: { width: 0 } }, showlegend: false, hovertemplate: "%{y}",
  });

  function show() {
    const by = axisChoice.value, x = learning[by];
    const traces = [line("training", x, learning.train, BLUE, "y")];
    if (learning.validation) traces.push(line("validation", x, learning.validation, ORANGE, "y"));
    if (learning.rates) traces.push(
      line("rate of w", x, learning.writingRate, GREEN, "y2"),
      line("rate of τ", x, learning.transitionRate, PURPLE, "y2"),
      bars("rejected, w", x, learning.writingRejected, GREEN),
      bars("rejected, τ", x, learning.transitionRejected, PURPLE),
    );
    const shapes = [];
    if (learning.best !== null) {
      shapes.push({
        type: "line", xref: "x", yref: "paper", x0: x[learning.best], x1: x[learning.best], y0: 0, y1: 1,
        line: { color: GREY, width: 1.3, dash: "dot" },
      });
    }
    const below = learning.rates ? {
      yaxis2: axis({ domain: [0.19, 0.4], type: "log", title: titled("learning rate"), exponentformat: "power", dtick: rateTicks }),
      yaxis3: axis({ domain: [0, 0.13], title: titled("rejected"), range: [0, most], tick0: 0, dtick: Math.ceil(most / 2), tickformat: "d" }),
    } : {};
    draw("learning-curves", traces, layout({
      barmode: "stack", bargap: 0, shapes, ...below,
      xaxis: axis({ anchor: learning.rates ? "y3" : "y", title: titled(by === "seconds" ? "CPU seconds" : "steps"), rangemode: "tozero" }),
      yaxis: axis({
        domain: [learning.rates ? 0.46 : 0, 1], type: scaleChoice.value, title: titled(learning.perSymbol ? "bits per symbol" : "bits"),
        rangemode: scaleChoice.value === "linear" ? "tozero" : "normal", nticks: 6,
        dtick: scaleChoice.value === "log" ? logTicks(all) : undefined, tickformat: "~g",
      }),
    }));
  }
  axisChoice.addEventListener("change", show);
  scaleChoice.addEventListener("change", show);
  redrawOnTurn(show);
  show();
}
if (data.learning) later(() => showLearning(data.learning));
