/** Takes the place of the other modules of Node in the n8n node, which may import none. */

/** From `node:events`: n8n has one listener per item on a signal, and Node warns of a leak at 11. */
export function setMaxListeners(): void {}

/** From `node:util`: shows a thrown value that is not an error. */
export function inspect(value: unknown): string {
  return JSON.stringify(value) ?? String(value)
}
