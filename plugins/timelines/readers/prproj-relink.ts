import { applyEdits, type TextEdit } from '../text-edits.js'
import type { RelinkedMedia } from '../timeline.js'
import { objectKey, type PremiereObjects } from './prproj-objects.js'
import { childElements, textEdit, type XmlElement } from './xml-document.js'

/** The paths of a media file. A relative path may also be absolute, which leads to the file from any folder. */
export const MEDIA_PATHS = ['ActualMediaFilePath', 'FilePath', 'RelativePath']
/** Paths of what Premiere made from the old sound, and would play in its place: without them, it makes them again. */
const CACHES = ['ConformedAudioPath', 'PeakFilePath']

/** Writes other paths into the media of a project; every other byte stays. */
export function relinkPremiere(
  text: string,
  objects: PremiereObjects,
  media: ReadonlyMap<string, RelinkedMedia>,
): string {
  const edits = objects.all.flatMap((object) => {
    const made = object.name === 'Media' ? media.get(objectKey(object)) : undefined
    if (!made) return []
    const streams = childElements(object, 'AudioStream').map((stream) => objects.named(stream))
    return [
      ...withText(text, object, MEDIA_PATHS, made.path),
      ...streams.flatMap((one) => withText(text, one, CACHES, '')),
    ]
  })
  // Two media can share a stream.
  return applyEdits(text, [...new Map(edits.map((edit) => [edit.start, edit])).values()])
}

function withText(
  text: string,
  element: XmlElement | undefined,
  names: readonly string[],
  value: string,
): readonly TextEdit[] {
  return names.flatMap((name) =>
    childElements(element, name)
      .filter((one) => one.text !== '')
      .map((one) => textEdit(text, one, value)),
  )
}
