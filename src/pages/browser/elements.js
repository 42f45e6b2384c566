import { visibleText } from './visible-text.js'

/**
 * Makes an element. Strings become text, never markup, and nothing in them is hidden: whatever a file is called, the
 * page shows it.
 *
 * @param {string} tag with classes after dots: `li.job`
 * @param {Record<string, unknown>} properties attributes; `on…` functions become listeners; null and false leave out
 * @param {...(Node | string | null | undefined | false)} children
 */
export function make(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split('.')
  const element = document.createElement(name)
  if (classes.length > 0) element.className = classes.join(' ')
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(key.slice(2), value)
    else element.setAttribute(key, value === true ? '' : visibleText(String(value)))
  }
  const present = children.filter((child) => child !== null && child !== undefined && child !== false)
  element.append(...present.map((child) => (typeof child === 'string' ? visibleText(child) : child)))
  return element
}

/** The element of an id that the page certainly has. */
export function byId(id) {
  return document.getElementById(id)
}

/** Sets a text only if it differs, so that nothing is announced or painted without need. */
export function setText(element, text) {
  const shown = visibleText(text)
  if (element.textContent !== shown) element.textContent = shown
}

/**
 * Updates the children of a list. Elements with the same key stay in place, with their focus and
 * animation.
 *
 * @template T
 * @param {Element} list
 * @param {readonly T[]} items in the order in which they are to stand
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} create
 * @param {(element: HTMLElement, item: T) => void} update
 */
export function reconcile(list, items, keyOf, create, update) {
  const known = new Map([...list.children].map((child) => [child.dataset.key, child]))
  let next = list.firstElementChild
  for (const item of items) {
    const key = keyOf(item)
    const element = known.get(key) ?? create(item)
    known.delete(key)
    element.dataset.key = key
    update(element, item)
    if (element === next) next = next.nextElementSibling
    else list.insertBefore(element, next)
  }
  for (const stale of known.values()) stale.remove()
}
