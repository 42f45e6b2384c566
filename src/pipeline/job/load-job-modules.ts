import { loadTransport } from '../../client/index.js'

/** Loads the modules that a job otherwise loads only when it needs them. */
export async function loadJobModules(): Promise<void> {
  await Promise.all([
    loadTransport(),
    import('../output/lower-beds.js'),
    import('../voice/map-track.js'),
    import('../voice/no-voice-verdicts.js'),
  ])
}
