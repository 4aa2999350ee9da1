// The controls of a window: visible dimensions, indices of the others, zoom.

import { button, element, labelled, labelledChoice } from "./dom.js";

/** Create controls that change a view and call `changed`; `again` updates the controls. */
export function viewControls(node, view, changed) {
  const box = element("div", { class: "controls" });
  const rebuild = () => {
    box.replaceChildren(...[sides(), sliders(), moveButtons()].filter(Boolean));
  };
  const again = () => {
    const { title } = document.activeElement;
    rebuild();
    if (title) box.querySelector(`[title="${title}"]:enabled`)?.focus(); // keep the focus
    changed();
  };

  /** Create the selection of the two visible dimensions. */
  const sides = () => {
    if (view.shape.length < 2) return null;
    const axes = view.shape.map((length, axis) => [axis, `${axisName(node, axis)} (${length})`]);
    const swapped = (chosen, other, old) => (chosen === other ? old : other);
    const down = labelledChoice("Down", axes, view.down, (text) => {
      const axis = Number(text);
      view.draw(axis, swapped(axis, view.across, view.down));
      again();
    });
    const across = labelledChoice("Across", axes, view.across, (text) => {
      const axis = Number(text);
      view.draw(swapped(axis, view.down, view.across), axis);
      again();
    });
    return element("div", { class: "row" }, down, across);
  };

  /** Create sliders for the indices of the other dimensions. */
  const sliders = () => {
    const others = view.shape.map((_, axis) => axis).filter((axis) => !view.sides.includes(axis));
    if (!others.length) return null;
    return element("div", { class: "row" }, ...others.map(slider));
  };

  const slider = (axis) => {
    const most = view.shape[axis] - 1;
    const limits = { min: 0, max: most, step: 1, value: view.at[axis] };
    const range = element("input", { type: "range", ...limits, oninput: () => set(range.value) });
    const exact = element("input", {
      type: "number",
      ...limits,
      class: "exact",
      "aria-label": `index of ${axisName(node, axis)}`,
      onchange: () => set(exact.value),
    });
    const set = (text) => {
      const index = Math.min(most, Math.max(0, Math.round(Number(text)) || 0));
      view.at[axis] = index;
      range.value = exact.value = index;
      changed();
    };
    return element(
      "span",
      { class: "slider" },
      labelled(axisName(node, axis), range),
      exact,
      element("span", { class: "faint" }, `of ${view.shape[axis]}`),
    );
  };

  /** Create the buttons that move the window. */
  const moveButtons = () => {
    if (!view.shape.length) return null;
    const act = (text, title, action, extra = {}) =>
      button(
        text,
        () => {
          action();
          again();
        },
        { title, "aria-label": title, ...extra },
      );
    const parts = view.sides.map((axis) => {
      const { start, count, step } = view.selection()[axis];
      const last = start + (count - 1) * step;
      return `${axisName(node, axis)}: ${start} to ${last}`;
    });
    const stepText = view.step > 1 ? `, every ${ordinal(view.step)} element` : "";
    const buttons = [
      act("+", "Zoom in", () => view.zoom(0.5)),
      act("−", "Zoom out", () => view.zoom(2), { disabled: view.isWhole }),
      act("all", "Show as much as possible", () => view.whole(), { disabled: view.isWhole }),
    ];
    if (!view.isWhole) {
      buttons.push(
        act("←", "Move left", () => view.move(0, -0.5)),
        act("→", "Move right", () => view.move(0, 0.5)),
      );
      if (view.down !== null) {
        buttons.push(
          act("↑", "Move up", () => view.move(-0.5, 0)),
          act("↓", "Move down", () => view.move(0.5, 0)),
        );
      }
    }
    return element(
      "div",
      { class: "row" },
      element(
        "span",
        { class: "buttons", role: "group", "aria-label": "Visible part" },
        ...buttons,
      ),
      element("span", { class: "faint part" }, `${parts.join(", ")}${stepText}`),
    );
  };

  rebuild();
  return { shown: box, again };
}

/** Return the name of a dimension. */
export function axisName(node, axis) {
  return node.dimension_names?.[axis] ?? `dimension ${axis}`;
}

function ordinal(count) {
  const last = count % 100 > 10 && count % 100 < 14 ? 0 : count % 10;
  return `${count}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}
