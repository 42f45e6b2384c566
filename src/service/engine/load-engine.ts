/** Loads the modules of the embedded engine. A node that only serves does without them. */
export async function loadEngine() {
  const [{ processFile }, { VoicePool }] = await Promise.all([
    import('./process-file.js'),
    import('../../voice/index.js'),
  ])
  return { processFile, VoicePool }
}
