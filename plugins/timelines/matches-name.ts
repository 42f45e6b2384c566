/** Matches a whole name against patterns, ignoring case; `*` stands for anything, `?` for one character. */
export function matchesName(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const source = pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')
    return new RegExp(`^${source}$`, 'is').test(name)
  })
}
