// Bits an event over time, as trained and when learning goes on; the level before and after the largest change.

function showDrift(drift, name) {
  const line = (title, y, colour) => ({
    type: "scatter", mode: "lines", name: title, x: drift.middles, y, line: { color: colour, width: 2, shape: "hvh" }, connectgaps: false,
    hovertemplate: "%{y:.4~g} bits",
  });
  function show() {
    const traces = [], shapes = [];
    if (drift.frozen) traces.push(line("as it was trained", drift.frozen, BLUE));
    if (drift.learning) traces.push(line("learning on", drift.learning, ORANGE));
    if (drift.change) {
      const [after, low, high] = drift.change;
      const level = (x0, x1, y) => ({ type: "line", x0, x1, y0: y, y1: y, line: { color: INK, width: 1.3, dash: "dash" } });
      shapes.push(
        { type: "line", xref: "x", yref: "paper", x0: after, x1: after, y0: 0, y1: 1, line: { color: GREY, width: 1.3, dash: "dot" } },
        level(0, after, low), level(after, drift.total, high),
      );
    }
    draw(name, traces, layout({
      shapes, showlegend: true,
      xaxis: axis({ title: titled(`${drift.events} so far`), range: [0, drift.total], tickformat: ",~d", fixedrange: true }),
      yaxis: axis({ title: titled("bits"), rangemode: "tozero", nticks: 6, tickformat: "~g", fixedrange: true }),
    }));
  }
  redrawOnTurn(show);
  show();
}
if (data.drift) later(() => showDrift(data.drift, "drift-chart"));
if (data.followed) later(() => showDrift(data.followed, "followed-chart"));
