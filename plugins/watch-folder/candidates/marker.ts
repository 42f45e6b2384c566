import { access } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Path of the marker file that must lie beside a file. @param template such as `{name}.done` */
export function markerPath(template: string, path: string): string {
  const name = basename(path)
  return join(
    dirname(path),
    template.replaceAll('{name}', () => name),
  )
}

/** True if the marker of a file exists, or none is required. @param template null if none is required */
export async function hasMarker(template: string | null, path: string): Promise<boolean> {
  if (template === null) return true
  return access(markerPath(template, path)).then(
    () => true,
    () => false,
  )
}
