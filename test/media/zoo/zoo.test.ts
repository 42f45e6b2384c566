import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { soundMoved } from './sound-place.js'
import { type ZooFolder, zooFolder } from './zoo-folder.js'
import { factOf } from './zoo-judge.js'
import { ZOO } from './zoo-rows.js'
import { replaceVoice } from './zoo-run.js'

describe('the zoo: nothing but the voice changes', () => {
  let folder: ZooFolder
  beforeAll(async () => {
    folder = await zooFolder()
  })
  afterAll(() => folder.remove())

  const rows = ZOO.filter(({ soak }) => !soak || process.env.VOXMUX_SOAK)

  it.each(rows.map((row) => [row.name, row] as const))('%s keeps all it has', async (_name, row) => {
    const path = await folder.take(row)
    const { plan, output } = await replaceVoice(path, folder.file(`out-${row.name}`))
    expect(plan.container).toBe(row.container)
    for (const feature of row.keeps) {
      const before = await factOf(feature, path)
      expect(before, `${feature} was there`).not.toEqual([])
      expect(await factOf(feature, output), feature).toEqual(before)
    }
    const moved = await soundMoved(path, output)
    expect(
      moved.filter((samples) => !(Math.abs(samples) <= row.offsetSamples)),
      `moved by ${moved}`,
    ).toEqual([])
  })
})
