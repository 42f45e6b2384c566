import { afterAll, beforeAll, expect, it } from 'vitest'
import { askChoices } from '../../src/cli/terminal/ask-choices.js'
import type { Choice } from '../../src/cli/terminal/questions.js'
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
