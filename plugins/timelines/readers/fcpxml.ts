import { addressOfPath } from '../media-path.js'
import { applyEdits, type TextEdit } from '../text-edits.js'
import type { RelinkedMedia, Timeline } from '../timeline.js'
import { TimelineSyntaxError } from '../timeline-error.js'
import { assetAddress, FcpxmlResources } from './fcpxml-resources.js'
import { FcpxmlWalk } from './fcpxml-walk.js'
import {
  attributeEdit,
  attributeRemoval,
  childElements,
  descendants,
  parseXml,
  removal,
  type XmlElement,
} from './xml-document.js'

/**
 * Reads the sound of every project in FCPXML 1.8 to 1.13, also in a bundle's `Info.fcpxml`. Follows connected clips,
 * storylines, compound, synchronized and multicam clips, and auditions. Leaves out clips whose roles are music or
 * effects.
 *
 * @throws {TimelineSyntaxError}
 */
export function readFcpxml(text: string): Timeline {
  const root = parseXml(text)
  if (root.name !== 'fcpxml') throw new TimelineSyntaxError('it is not FCPXML (its root is not fcpxml)')
  const resources = new FcpxmlResources(root)
  const projects = [...descendants(root)].filter(({ name }) => name === 'project')
  if (projects.length === 0) throw new TimelineSyntaxError('it holds no project')
  const walk = new FcpxmlWalk(resources)
  for (const project of projects) walk.project(project)
  return walk.found.timeline((media) => relinkFcpxml(text, resources.assets, media))
}

/** Names other files in the assets, and removes what leads back to the old ones: bookmarks, proxies, identities. */
function relinkFcpxml(text: string, assets: readonly XmlElement[], media: ReadonlyMap<string, RelinkedMedia>): string {
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
  const others = childElements(asset, 'media-rep').filter((one) => one !== file)
  const bookmarks = [...childElements(asset, 'bookmark'), ...(file === asset ? [] : childElements(file, 'bookmark'))]
  return [
    attributeEdit(text, file, 'src', addressOfPath(path, like)),
    attributeRemoval(text, asset, 'uid'),
    file === asset ? undefined : attributeRemoval(text, file, 'sig'),
    ...[...others, ...bookmarks].map((one) => removal(text, one)),
  ].filter((edit) => edit !== undefined)
}
