import type { Config } from '../../src/config/index.js'

/** Settings that a daemon takes at its start, as the configuration calls them; those of the watched folders are not. */
const AT_START: Readonly<Record<string, (config: Config) => unknown>> = {
  service: ({ profile, service, blockTypeHeader }) => [profile, service, blockTypeHeader],
  webhook: ({ webhook }) => webhook,
  concurrency: ({ workerConcurrency }) => workerConcurrency,
  stages: ({ stages }) => stages,
  // Of the preset, and so of each folder.
  limits: ({ limits: { requireVoice: _, ...limits } }) => limits,
  maxSecondsPerDay: ({ maxSecondsPerDay }) => maxSecondsPerDay,
  cacheDir: ({ cacheDir }) => cacheDir,
  cacheMaxBytes: ({ cacheMaxBytes }) => cacheMaxBytes,
  keepVoicesDays: ({ keepVoicesDays }) => keepVoicesDays,
  stateDir: ({ stateDir }) => stateDir,
  store: ({ ledger, store }) => [ledger, store],
  paths: ({ paths }) => paths,
  ffmpeg: ({ ffmpeg, ffprobe }) => [ffmpeg, ffprobe],
  extensions: ({ extensions }) => extensions,
  'watch.dashboard': ({ watch }) => watch.dashboard,
}

/** Names of the settings that were changed and stay what they were until the daemon is started anew. */
export function changedUntilRestart(started: Config, read: Config): readonly string[] {
  return Object.entries(AT_START)
    .filter(([, take]) => JSON.stringify(take(started)) !== JSON.stringify(take(read)))
    .map(([name]) => name)
}
