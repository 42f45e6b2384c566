import { escapeHtml } from '../../core/escape-html.js'
import { visibleText } from '../../core/visible-text.js'

/** Text of media and paths, in which nothing is markup and nothing is hidden. */
export function shown(text: string): string {
  return escapeHtml(visibleText(text))
}

/** A table that scrolls on a narrow screen, also with the keyboard. @param name for those who hear the page */
export function htmlTable(name: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '<p>Not measured.</p>'
  const line = (tag: 'td' | 'th', cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${shown(cell)}</${tag}>`).join('')}</tr>`
  const body = rows.map((cells) => line('td', cells)).join('\n')
  const table = `<table><thead>${line('th', head)}</thead><tbody>${body}</tbody></table>`
  return `<div class="scroll" tabindex="0" role="region" aria-label="${name}">${table}</div>`
}

/** A list with a heading; nothing if it is empty. */
export function htmlList(title: string, entries: readonly string[]): string {
  if (entries.length === 0) return ''
  return `<h2>${title}</h2><ul>${entries.map((entry) => `<li>${shown(entry)}</li>`).join('')}</ul>`
}

/** A measured figure to a tenth, with a unit that stays on its line. */
export function figure(value: number | null, unit: string): string {
  return value === null ? '–' : `${value.toFixed(1)}\u00a0${unit}`
}

/** Formats `2026-01-02T03:04:05.678Z` to the minute. */
export function readableTime(isoTime: string): string {
  return `${isoTime.slice(0, 16).replace('T', ' ')} UTC`
}
