import { addressOfPath, pathOfAddress } from '../media-path.js'
import { applyEdits, type TextEdit } from '../text-edits.js'
import type { RelinkedMedia } from '../timeline.js'
import { type JsonNode, type JsonObject, member, stringOf } from './json-tree.js'
import { sourceOf } from './otio-reference.js'
import { activeReference } from './otio-values.js'

/** Under this key the regenerated media stands beside the original. */
const KEY = 'voxmux'

/**
 * Gives every clip of a source that was regenerated a second media reference and makes it the active one: the editor
 * can switch back. The new reference is the old one with another address. A clip of the schema that knows one
 * reference only (Clip.1) becomes one of that which knows several (Clip.2).
 */
export function relinkOtio(
  text: string,
  clips: readonly JsonNode[],
  media: ReadonlyMap<string, RelinkedMedia>,
): string {
  const edits = clips.flatMap((clip) => {
    const made = media.get(sourceOf(clip)?.id ?? '')
    return made && clip.kind === 'object' && !isPlayed(clip, made) ? editsOf(text, clip, made) : []
  })
  return applyEdits(text, edits)
}

/** True of a clip that plays this file already: a cut over outputs of voxmux. */
function isPlayed(clip: JsonNode, { path, packedName, relativePath }: RelinkedMedia): boolean {
  const address = stringOf(member(activeReference(clip), 'target_url')) ?? ''
  return packedName === undefined && [path, relativePath].includes(pathOfAddress(address))
}

function editsOf(text: string, clip: JsonObject, made: RelinkedMedia): readonly TextEdit[] {
  const reference = activeReference(clip) as JsonNode
  const address = member(reference, 'target_url') as JsonNode
  const shift = reference.start
  const copy = applyEdits(text.slice(reference.start, reference.end), [
    {
      start: address.start - shift,
      end: address.end - shift,
      text: JSON.stringify(addressOf(made, stringOf(address) ?? '')),
    },
  ])
  const references = member(clip, 'media_references')
  return references?.kind === 'object' && references.members.size > 0
    ? addReference(clip, references, copy)
    : replaceReference(clip, reference, text.slice(reference.start, reference.end), copy)
}

/** A relative path stays relative if the new file lies beside the old one, and in a bundle; others become URLs. */
function addressOf({ path, packedName, relativePath }: RelinkedMedia, old: string): string {
  const name = packedName ?? relativePath
  if (name !== undefined && name === relativePath && pathOfAddress(old) !== old) {
    return encodeURI(name).replaceAll('#', '%23').replaceAll('?', '%3F')
  }
  // A name with a percent sign can look like an encoded address.
  if (name !== undefined) return pathOfAddress(name) === name ? name : name.replaceAll('%', '%25')
  return addressOfPath(path, /^file:/i.test(old) ? old : 'file:///')
}

function addReference(clip: JsonObject, references: JsonObject, copy: string): readonly TextEdit[] {
  let key = KEY
  for (let number = 2; references.members.has(key); number++) key = `${KEY} ${number}`
  const last = [...references.members.values()].at(-1)?.value.end ?? references.end - 1
  const active = clip.members.get('active_media_reference_key')
  return [
    { start: last, end: last, text: `, ${JSON.stringify(key)}: ${copy}` },
    active
      ? { start: active.value.start, end: active.value.end, text: JSON.stringify(key) }
      : { start: references.end, end: references.end, text: `, "active_media_reference_key": ${JSON.stringify(key)}` },
  ]
}

function replaceReference(clip: JsonObject, reference: JsonNode, original: string, copy: string): readonly TextEdit[] {
  const schema = clip.members.get('OTIO_SCHEMA')?.value
  const only = clip.members.get('media_reference')
  if (!schema || !only) return []
  const both = `{"DEFAULT_MEDIA": ${original}, ${JSON.stringify(KEY)}: ${copy}}`
  return [
    { start: schema.start, end: schema.end, text: '"Clip.2"' },
    { start: only.keyStart, end: only.keyEnd, text: '"media_references"' },
    {
      start: reference.start,
      end: reference.end,
      text: `${both}, "active_media_reference_key": ${JSON.stringify(KEY)}`,
    },
  ]
}
