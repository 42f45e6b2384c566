import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askChoices } from '../../src/cli/terminal/ask-choices.js'
import type { Choice } from '../../src/cli/terminal/questions.js'
import { ffmpeg, tone } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

let shop: Workshop
beforeAll(() => {
  shop = openWorkshop()
})
afterAll(() => shop.remove())

/** Answers in turn. @returns the request, and the questions with their choices */
async function answered(name: string, output: string | undefined, answers: readonly string[], toStdout = false) {
  const asked: string[] = []
  const left = [...answers]
  const choice = async (question: string, choices: readonly Choice[]) => {
    asked.push([question, ...choices.map(({ value, meaning }) => `${value}: ${meaning}`)].join('\n'))
    return left.shift() ?? 'none'
  }
  const open = () => ({ choice, text: async () => '', close: () => {} })
  const request = { ...requestFor(shop.path(name)), output, cwd: shop.dir }
  const { signal } = new AbortController()
  return { asked, request: await askChoices(request, { limits: {}, signal, toStdout, open }) }
}

it('shows the loudness of each track, so that a person hears which has the dialogue', async () => {
  shop.take('two-tracks.mkv')
  const { asked, request } = await answered('two-tracks.mkv', undefined, ['1'])
  expect(asked).toHaveLength(1)
  expect(asked[0]).toMatch(
    /^two-tracks.mkv: which audio track\?\n0: English stereo.*, -\d+\.\d LUFS\n1: French.*, -\d+\.\d LUFS\nall: every track$/,
  )
  expect(request.settings.recipe.track).toBe(1)
})

it('asks whether to keep the picture if the output is named like a sound file', async () => {
  shop.take('phone.mp4')
  const question =
    'phone.mp4 has a picture, and .wav files hold only sound. Keep the picture?\nno: only the sound, as x.wav\nyes: picture and sound, as x.mp4'
  expect(await answered('phone.mp4', 'x.wav', ['no'])).toMatchObject({
    asked: [question],
    request: { output: 'x.wav' },
  })
  expect(await answered('phone.mp4', 'x.wav', ['yes'])).toMatchObject({ request: { output: 'x.mp4' } })
  const own = await answered('phone.mp4', 'phone.wav', ['yes'])
  expect(own.asked[0]).toContain('as phone.regen.mp4')
  expect(own.request.output).toBeUndefined()
  for (const output of [undefined, 'x.mkv', 'x.wav/'])
    expect((await answered('phone.mp4', output, [])).asked).toEqual([])
  expect((await answered('phone.mp4', 'x.wav', [], true)).asked).toEqual([])
})

it('offers no track that was announced and never sent', async () => {
  const path = shop.path('three.ts')
  const maps = [0, 1, 1].flatMap((input) => ['-map', String(input)])
  await ffmpeg(...tone(2, 48_000, 2), ...tone(2, 48_000, 2), ...maps, '-c:a', 'mp2', path)
  const bytes = await readFile(path)
  const packets = Array.from({ length: bytes.length / 188 }, (_, number) =>
    bytes.subarray(number * 188, number * 188 + 188),
  )
  await writeFile(path, Buffer.concat(packets.filter((packet) => (packet.readUInt16BE(1) & 0x1fff) !== 0x102)))
  const { asked } = await answered('three.ts', undefined, ['0'])
  expect(asked[0]).toMatch(/^three.ts: which audio track\?\n0: .*\n1: .*\nall: every track$/)
})
