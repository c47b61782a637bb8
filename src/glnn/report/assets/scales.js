// How many symbols each unit remembers: alone, as measured on these data, and before training.

function showScales(scales, units) {
  const order = units.orders.time ?? units.orders.number, x = order.map((_, k) => k);
  const known = [scales.own, scales.measured, scales.initial].flatMap((values) => values ?? []).filter((value) => value > 0);
  const top = Math.max(...known, 1) * 2.5;
  const dots = (name, values, marker) => {
    const y = order.map((unit) => values[unit]);
    return {
      type: "scatter", mode: "markers", name, x, y: y.map((value) => value ?? top),
      text: y.map((value, k) => `unit ${order[k]}: ${value === null ? "does not die out" : `${short(value)} symbols`}`),
      hovertemplate: `%{text}<extra>${name}</extra>`, marker: { size: 9, ...marker, symbol: y.map((value) => (value === null ? "triangle-up" : marker.symbol)) },
    };
  };
  function show() {
    const traces = [];
    if (scales.initial) traces.push(dots("before training", scales.initial, { symbol: "line-ew", line: { color: GREY, width: 1.6 }, size: 11 }));
    if (scales.own) traces.push(dots("alone", scales.own, { symbol: "circle", color: BLUE }));
    const still = order.map((unit) => scales.measured[unit] === null);
    const measured = dots("measured", scales.measured, { symbol: "diamond", color: ORANGE });
    measured.y = measured.y.map((value, k) => (still[k] ? null : value));
    traces.push(measured);
    draw("scales-chart", traces, layout({
      hovermode: "closest",
      xaxis: axis({
        title: titled("unit, by measured time scale"), tickvals: x, ticktext: order.map(String), fixedrange: true, showgrid: false,
        showticklabels: units.number <= (narrow() ? 20 : 48), range: [-0.8, units.number - 0.2], tickangle: 0,
      }),
      yaxis: axis({ type: "log", title: titled("symbols"), tickformat: ",~g", dtick: logTicks(known), fixedrange: true }),
    }));
  }
  redrawOnTurn(show);
  show();
}
if (data.inside && data.inside.timeScales) later(() => showScales(data.inside.timeScales, units));

drawWaiting();
