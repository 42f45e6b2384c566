import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodePcm } from '../../../src/media/decode-pcm.js'
import { mux } from '../../../src/media/mux.js'
import { planMux } from '../../../src/media/mux-plan.js'
import { probe } from '../../../src/media/probe.js'
import { verifyMux } from '../../../src/media/verify-mux.js'
import { type ZooFolder, zooFolder } from './zoo-folder.js'
import { factOf } from './zoo-judge.js'
import { ZOO } from './zoo-rows.js'

describe('the zoo: nothing but the voice changes', () => {
  let folder: ZooFolder
  beforeAll(async () => {
    folder = await zooFolder()
  })
  afterAll(() => folder.remove())

  const rows = ZOO.filter(({ soak }) => !soak || process.env.VOXMUX_SOAK)

  it.each(rows.map((row) => [row.name, row] as const))('%s keeps all it has', async (_name, row) => {
    const path = await folder.take(row)
    const media = await probe(path)
    expect(media.container).toBe(row.container)
    const plan = planMux(media, { replaced: [0] })
    const output = folder.file(`out-${row.name}`)
    const result = await mux(plan, new Map([[0, decodePcm(media, { audioIndex: 0 })]]), output)
    const { sync } = await verifyMux(plan, result, output, { level: 'full' })
    for (const feature of row.keeps) {
      const before = await factOf(feature, path)
      expect(before, `${feature} was there`).not.toEqual([])
      expect(await factOf(feature, output), feature).toEqual(before)
    }
    expect(sync[0]?.places).toHaveLength(3)
    for (const { offsetSamples } of sync[0]?.places ?? [])
      expect(Math.abs(offsetSamples ?? Number.NaN)).toBeLessThanOrEqual(row.offsetSamples)
  })
})
