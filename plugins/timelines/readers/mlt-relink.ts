import { applyEdits, type TextEdit } from '../text-edits.js'
import type { RelinkedMedia } from '../timeline.js'
import { mediaOf, property, propertyElement } from './mlt-values.js'
import { removal, textEdit, type XmlElement } from './xml-document.js'

/** Properties by which an editor recognises the old file, and would look for it or say that it was replaced. */
const FINGERPRINTS = ['shotcut:hash', 'kdenlive:file_hash', 'kdenlive:file_size']

/** Names other files in all producers and chains that play one that was regenerated; proxies of the old one go. */
export function relinkMlt(
  text: string,
  root: XmlElement,
  producers: readonly XmlElement[],
  media: ReadonlyMap<string, RelinkedMedia>,
): string {
  const edits = producers.flatMap((producer) => {
    const isMedia = producer.name === 'producer' || producer.name === 'chain'
    const made = isMedia ? media.get(mediaOf(producer, root)?.address ?? '') : undefined
    return made ? editsOf(text, producer, made.relativePath ?? made.path) : []
  })
  return applyEdits(text, edits)
}

function editsOf(text: string, producer: XmlElement, path: string): readonly TextEdit[] {
  const isWarped = property(producer, 'mlt_service') === 'timewarp'
  const speed = /^(-?[\d.,]+):/.exec(property(producer, 'resource') ?? '')?.[0] ?? ''
  const values: Readonly<Record<string, string>> = {
    resource: isWarped ? `${speed}${path}` : path,
    warp_resource: path,
    'kdenlive:originalurl': path,
    'kdenlive:proxy': '-',
  }
  const replaced = Object.entries(values).flatMap(([name, value]) => {
    const element = propertyElement(producer, name)
    return element ? [textEdit(text, element, value)] : []
  })
  const removed = FINGERPRINTS.map((name) => propertyElement(producer, name)).filter((one) => one !== undefined)
  return [...replaced, ...removed.map((one) => removal(text, one))]
}
