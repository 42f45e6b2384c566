import type { NoteTaker } from './note-taker.js'
import type { ClipUse, Timeline } from './timeline.js'

/**
 * The uses of a timeline that no pattern leaves out, by the name of the clip or of its source. A note lists each use
 * that is left out. Another note names a pattern that matches nothing: a typing error would cost money.
 */
export function withoutExcluded(
  { uses, sources }: Timeline,
  patterns: readonly string[],
  notes: NoteTaker,
): readonly ClipUse[] {
  const sourceNames = new Map(sources.map(({ id, name }) => [id, name]))
  const namesOf = ({ clip, sourceId }: ClipUse) => [clip, sourceNames.get(sourceId) ?? '']
  for (const pattern of patterns) {
    if (uses.some((use) => namesOf(use).some((name) => matchesName([pattern], name)))) continue
    notes.add('excluded', pattern, 'is excluded, but no clip and no file is called so')
  }
  return uses.filter((use) => {
    const isExcluded = namesOf(use).some((name) => matchesName(patterns, name))
    if (isExcluded) notes.add('excluded', use.clip, 'is excluded: left as it is')
    return !isExcluded
  })
}

/** Matches a whole name against patterns, ignoring case; `*` stands for anything, `?` for one character. */
function matchesName(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const source = pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')
    return new RegExp(`^${source}$`, 'is').test(name)
  })
}
