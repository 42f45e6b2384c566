import { DEFECTS } from './defects.js'

/**
 * Puts a defect back into a source text.
 *
 * @param file path of the text within the repository
 * @throws if what the defect replaces does not stand there exactly once
 */
export function withDefect(source: string, file: string, name: string): string {
  const changes = DEFECTS.find((defect) => defect.name === name)?.changes ?? []
  return changes
    .filter((change) => change.file === file)
    .reduce((text, { whole, broken }) => {
      const [before, after, ...more] = text.split(whole)
      if (before === undefined || after === undefined || more.length > 0)
        throw new Error(
          `The defect "${name}" does not fit ${file} any more: change test/simulation/defects/defects.ts.`,
        )
      return before + broken + after
    }, source)
}
