import picocolors from 'picocolors'
import type { Colors } from 'picocolors/types.js'
import { visibleText } from '../../core/visible-text.js'

/** The colours of a stream; none if it is not a terminal. */
export function colorsOf({ isTTY }: { readonly isTTY?: boolean }): Colors {
  return picocolors.createColors(isTTY === true && picocolors.isColorSupported)
}

/** The next steps below a fault, one on each line. */
export function remedyLines(remedies: readonly string[]): readonly string[] {
  return remedies.map((remedy) => `    → ${visibleText(remedy)}`)
}
