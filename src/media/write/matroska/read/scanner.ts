import { type Head, readHead } from '../../../probe/matroska/ebml.js'
import { FileWindow } from '../../file-window.js'

/** Reads the heads of elements. */
export class Scanner extends FileWindow {
  /** The head of the element at an offset that was brought; undefined if no element begins there. */
  head(at: number): Head | undefined {
    return readHead(this.window, this.placeOf(at))
  }
}
