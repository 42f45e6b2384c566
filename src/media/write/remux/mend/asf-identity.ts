import { type FileHandle, open } from 'node:fs/promises'
import { readAt } from '../../../../core/read-at.js'
import { ASF_HEAD_BYTES } from '../../../probe/asf-head.js'
import { asfObjects } from '../../structure/asf-objects.js'
import type { MuxPlan } from '../mux-plan.js'

const FILE_ID_BYTES = 16
const PROPERTIES = 'Header/File Properties'
/** The objects whose body begins with the id of the file (ASF specification, sections 3.2, 5.1 and 6.1). */
const STATE_FILE_ID: readonly string[] = [PROPERTIES, 'Data', 'Simple Index']
/** Place of the creation date in the body of File Properties: behind the id and the size of the file. */
const DATE_AT = FILE_ID_BYTES + 8
const DATE_BYTES = 8

/** Keeps the id and the creation date of a WMV or WMA, which ffmpeg replaces by constants. */
export async function keepAsfIdentity({ media, profile }: MuxPlan, partPath: string): Promise<void> {
  if (profile.muxer !== 'asf' || !['wmv', 'wma'].includes(media.container)) return
  await using source = await open(media.path, 'r')
  await using part = await open(partPath, 'r+')
  const [properties] = await bodiesOf(source, [PROPERTIES])
  if (properties === undefined) return
  const id = await readAt(source, properties.start, FILE_ID_BYTES)
  const date = await readAt(source, properties.start + DATE_AT, DATE_BYTES)
  for (const { path, start } of await bodiesOf(part, STATE_FILE_ID)) {
    await part.write(id, 0, id.length, start)
    if (path === PROPERTIES) await part.write(date, 0, date.length, start + DATE_AT)
  }
}

async function bodiesOf(file: FileHandle, paths: readonly string[]) {
  const objects = (await asfObjects(file, (await file.stat()).size)) ?? []
  return objects
    .filter(({ path }) => paths.includes(path))
    .map(({ path, start }) => ({ path, start: start + ASF_HEAD_BYTES }))
}
