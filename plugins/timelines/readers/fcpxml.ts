import type { Timeline } from '../timeline.js'
import { TimelineSyntaxError } from '../timeline-error.js'
import { relinkFcpxml } from './fcpxml-relink.js'
import { FcpxmlResources } from './fcpxml-resources.js'
import { FcpxmlWalk } from './fcpxml-walk.js'
import { descendants, parseXml } from './xml-document.js'

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
  const { uses, notes } = walk
  const used = new Set(uses.map(({ sourceId }) => sourceId))
  return {
    name: projects[0]?.attributes.name ?? null,
    sources: resources.sources.filter(({ id }) => used.has(id)),
    uses,
    notes,
    relink: (media) => relinkFcpxml(text, resources.assets, media),
  }
}
