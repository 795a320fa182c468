/** An element of the page that must exist: the page and its script belong together. */
export function byId<T extends HTMLElement>(id: string, kind: new () => T): T {
  const element = document.getElementById(id)
  if (!(element instanceof kind)) throw new Error(`the page has no ${id}`)
  return element
}

/** Makes a button show and hide a part of the page. */
export function disclose(button: HTMLButtonElement, panel: HTMLElement): void {
  const set = (open: boolean): void => {
    panel.hidden = !open
    button.ariaExpanded = String(open)
  }
  button.addEventListener('click', () => set(panel.hidden !== false))
  panel.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return
    set(false)
    button.focus()
  })
}

/** Makes a button toggle between on and off. */
export function toggle(
  button: HTMLButtonElement,
  isOn: boolean,
  changed: (isOn: boolean) => void,
): void {
  button.ariaPressed = String(isOn)
  button.addEventListener('click', () => {
    const next = button.ariaPressed !== 'true'
    button.ariaPressed = String(next)
    changed(next)
  })
}
