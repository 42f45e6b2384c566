import { copyFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { fixture } from '../../../helpers/job-bench.js'
import { mountMacVolume, NO_MAC_VOLUME } from '../../../helpers/system/mac-volume.js'
import { until } from '../../../helpers/until.js'
import { eventsOf } from '../../../helpers/voxmux-cli.js'
import { watchBench } from '../watch-bench.js'

const bench = watchBench()

const title = 'sees a file once if its events and its folder spell the name differently'

it.skipIf(NO_MAC_VOLUME !== null)(
  NO_MAC_VOLUME ? `${title} (skipped: ${NO_MAC_VOLUME})` : title,
  { timeout: 120_000 },
  async () => {
    const unmount = await mountMacVolume(bench.file('.'), 'nfd')
    try {
      copyFileSync(fixture('speech.wav'), bench.file('Before\u00e9.wav'))
      const daemon = bench.watch()
      const published = () => bench.names('out').filter((name) => name.endsWith('.voxmux.json'))
      await until(() => published().length === 1)
      // The event has the composed name, and every scan the decomposed one.
      copyFileSync(fixture('speech.mp3'), bench.file('Caf\u00e9.mp3'))
      await until(() => published().length === 2)
      copyFileSync(fixture('speech.wav'), bench.file('Last.wav'))
      await until(() => published().length === 3)
      daemon.child.kill('SIGTERM')
      const result = await daemon.ended
      expect(eventsOf(result).at(-1)).toMatchObject({ done: 3, skipped: 0, failed: 0, rejected: 0 })
      expect(bench.names('failed')).toEqual([])
    } finally {
      await unmount()
    }
  },
)
