import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { pathOfAddress } from './media-path.js'
import { type JsonNode, parseJsonTree } from './readers/json-tree.js'
import { attributeEdit, attributeInsertion, descendants, parseXml, textEdit } from './readers/xml-document.js'
import { applyEdits, type TextEdit } from './text-edits.js'

/** From where a timeline's relative addresses count, before and after. Absolute paths. */
export interface Relocation {
  readonly from: string
  readonly to: string
  /** A bundle is copied with all that it holds: what lies in {@link from} keeps its address. */
  readonly isBundle: boolean
}

/**
 * A timeline's text for another folder: every relative address still leads to the same file. Such addresses name
 * media that were left as they are, and originals that an editor may switch back to.
 *
 * @param extension which format it is; lists of names (EDL) hold no addresses
 */
export function relocateAddresses(text: string, extension: string, relocation: Relocation): string {
  if (relocation.from === relocation.to) return text
  return applyEdits(text, EDITS[extension]?.(text, relocation) ?? [])
}

/** The edits of a format's addresses, by its extension. */
const EDITS: Readonly<Record<string, (text: string, relocation: Relocation) => readonly TextEdit[]>> = {
  ...{ '.otio': otioEdits, '.otiod': otioEdits, '.mlt': mltEdits, '.kdenlive': mltEdits },
  ...{ '.fcpxml': xmlEdits, '.fcpxmld': xmlEdits, '.xml': xmlEdits, '.prproj': premiereEdits },
}

/** Names under which OTIO's references hold addresses: of files, and of sequences of pictures. */
const OTIO_ADDRESSES = ['target_url', 'target_url_base']

function otioEdits(text: string, relocation: Relocation): readonly TextEdit[] {
  return nodeEdits(parseJsonTree(text), relocation)
}

function nodeEdits(node: JsonNode, relocation: Relocation): readonly TextEdit[] {
  if (node.kind === 'array') return node.items.flatMap((item) => nodeEdits(item, relocation))
  if (node.kind !== 'object') return []
  return [...node.members].flatMap(([key, { value }]) => {
    if (value.kind !== 'string' || !OTIO_ADDRESSES.includes(key)) return nodeEdits(value, relocation)
    const moved = relocated(value.text, relocation)
    return moved === undefined ? [] : [{ start: value.start, end: value.end, text: JSON.stringify(moved) }]
  })
}

/** `src` and `url` in FCPXML, `pathurl` in that of Final Cut Pro 7. */
function xmlEdits(text: string, relocation: Relocation): readonly TextEdit[] {
  return [...descendants(parseXml(text))].flatMap((element) => {
    const attributes = ['src', 'url'].map((name) => {
      const moved = relocated(element.attributes[name] ?? '', relocation)
      return moved === undefined ? undefined : attributeEdit(text, element, name, moved)
    })
    const moved = element.name === 'pathurl' ? relocated(element.text.trim(), relocation) : undefined
    return [...attributes, moved === undefined ? undefined : textEdit(text, element, moved)].filter(
      (edit) => edit !== undefined,
    )
  })
}

/** Premiere writes paths, not addresses: nothing in them is encoded. Paths of Windows stay. */
function premiereEdits(text: string, { from, to }: Relocation): readonly TextEdit[] {
  return [...descendants(parseXml(text))]
    .filter(({ name, text: path }) => name === 'RelativePath' && path !== '' && !/^[/]|[\\:]/.test(path))
    .map((element) => textEdit(text, element, relative(to, join(from, element.text)).split(sep).join('/')))
}

/** A project says itself from where its addresses count; one that does not means its own folder. */
function mltEdits(text: string, { from }: Relocation): readonly TextEdit[] {
  const project = parseXml(text)
  const { root } = project.attributes
  if (root !== undefined && isAbsolute(root)) return []
  const folder = resolve(from, root ?? '')
  const edit = attributeEdit(text, project, 'root', folder) ?? attributeInsertion(text, project, 'root', folder)
  return [edit]
}

/** The same file from the other folder, written as it was; undefined if the address may stay. */
function relocated(address: string, { from, to, isBundle }: Relocation): string | undefined {
  // Paths of another system count too: a drive's letter looks like a scheme.
  if (address === '' || /^([a-z][a-z\d+.-]*:|[\\/]|#)/i.test(address)) return undefined
  const path = pathOfAddress(address)
  const target = join(from, path)
  if (isBundle && target.startsWith(from + sep)) return undefined
  const moved = relative(to, target).split(sep).join('/')
  return path === address ? moved : moved.split('/').map(encodeURIComponent).join('/')
}
