import { addressOfPath } from '../media-path.js'
import { applyEdits, type TextEdit } from '../text-edits.js'
import type { RelinkedMedia } from '../timeline.js'
import { assetAddress } from './fcpxml-resources.js'
import { attributeEdit, attributeRemoval, childrenOf, removal, type XmlElement } from './xml-document.js'

/**
 * Names other files in the assets. Removes everything that leads back to the old file: bookmarks, proxies, and the
 * identity under which a library may list it.
 */
export function relinkFcpxml(
  text: string,
  assets: readonly XmlElement[],
  media: ReadonlyMap<string, RelinkedMedia>,
): string {
  const edits = assets.flatMap((asset) => {
    const made = media.get(asset.attributes.id ?? '')
    return made ? editsOf(text, asset, made) : []
  })
  return applyEdits(text, edits)
}

function editsOf(text: string, asset: XmlElement, { path }: RelinkedMedia): readonly TextEdit[] {
  const file = assetAddress(asset)
  if (!file) return []
  const like = /^file:/i.test(file.attributes.src ?? '') ? (file.attributes.src ?? '') : 'file:///'
  const others = childrenOf(asset, 'media-rep').filter((one) => one !== file)
  const bookmarks = [...childrenOf(asset, 'bookmark'), ...(file === asset ? [] : childrenOf(file, 'bookmark'))]
  return [
    attributeEdit(text, file, 'src', addressOfPath(path, like)),
    attributeRemoval(text, asset, 'uid'),
    file === asset ? undefined : attributeRemoval(text, file, 'sig'),
    ...[...others, ...bookmarks].map((one) => removal(text, one)),
  ].filter((edit) => edit !== undefined)
}
