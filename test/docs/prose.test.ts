import { describe, expect, it } from 'vitest'
import { breachesOf } from '../../docs/prose/rules.js'
import { sentencesOfPage, sentencesOfSource } from '../../docs/prose/sentences.js'

describe('the style sheet, as a program checks it', () => {
  it.each([
    ['Where the file is gone, it waits.', ['opener', 'where']],
    ['It waits, where the file is gone.', ['where']],
    ['Of these, one is kept.', ['opener']],
    ['It is no JSON.', ['dialect']],
    ['The file is read anew.', ['dialect']],
    [`It is ${'very '.repeat(25)}long.`, ['length']],
  ])('names what is wrong with "%s"', (sentence, rules) => {
    expect(breachesOf(sentence).map(({ rule }) => rule)).toEqual(rules)
  })

  it.each([
    'Where is the file?',
    'The folder where the output goes must exist.',
    'There is no audio in this file.',
    'It is no longer needed.',
    'If the file is gone, the daemon waits.',
    'It waits, for example at night.',
  ])('has nothing against "%s"', (sentence) => {
    expect(breachesOf(sentence)).toEqual([])
  })
})

describe('what is read of the repository', () => {
  it('is the text of a page, with code as one word, and cells and items apart', () => {
    const page = [
      '# Title',
      'One `npm i x` two.',
      'Three.',
      '',
      '```sh',
      'no text here',
      '```',
      '- [item](x.md) one',
      '| a b | c |',
    ]
    expect(sentencesOfPage('a.md', page.join('\n')).map(({ line, text }) => `${line} ${text}`)).toEqual([
      '2 One x two.',
      '2 Three.',
      '8 item one',
      '9 a b',
      '9 c',
    ])
  })

  it('is the comments and the messages of a source file, without tags and short names', () => {
    const source = [
      '/**',
      ' * Reads a file.',
      ' *',
      ' * @param path where it lies',
      ' */',
      '// One thing',
      '// and its end.',
      "const a = 'short name'",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
      'throw new Error(`The file ${path} is not there.`)',
      "db.run('SELECT a FROM b WHERE c')",
    ]
    const found = sentencesOfSource('a.ts', source.join('\n')).map(({ kind, line, text }) => `${kind} ${line} ${text}`)
    expect(found).toEqual([
      'comment 1 Reads a file.',
      'comment 1 where it lies',
      'comment 6 One thing and its end.',
      'message 9 The file x is not there.',
    ])
  })
})
