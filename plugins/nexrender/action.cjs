// A postrender action of nexrender: regenerates the voice of what was rendered. nexrender requires it by its name,
// "voxmux/plugins/nexrender", and calls it with (job, settings, action, type).
const { isAbsolute, join } = require('node:path')

/** What an action of nexrender may have besides a step's own keys. */
const FOREIGN = ['module', 'onStart', 'onComplete']

/**
 * @param job nexrender's job; `output`, where the render lies, becomes the new file unless the action names its own input
 * @param settings nexrender's settings, with its logger
 * @param action `{ module, input?, output?, preset?, track?, channels?, segments?, … }`: a job of `voxmux step`, its
 *   paths relative to the job's work folder; `input` may be an address
 * @throws the typed errors of `scriptStep`
 */
module.exports = async (job, settings, action, type) => {
  if (type !== 'postrender') throw new Error(`voxmux is an action for postrender, not for ${type}.`)
  const { scriptStep } = await import('voxmux/step')
  const own = Object.fromEntries(Object.entries(action).filter(([key]) => !FOREIGN.includes(key)))
  const within = (path) => (isAbsolute(path) ? path : join(job.workpath, path))
  const isAddress = /^https?:\/\//i.test(action.input)
  // Beside an address there is no place for the new file.
  const output = action.output || (isAddress ? './' : undefined)
  const say = (message) => settings.logger.log(`[${job.uid}] voxmux: ${message}`)
  const tell = (_fields, message) => say(message)
  const step = {
    ...own,
    input: isAddress ? action.input : within(action.input ?? job.output),
    ...(output ? { output: within(output) } : {}),
  }
  const result = await scriptStep(step, {
    logger: { debug: () => {}, info: tell, warn: tell, error: tell },
  }).catch((error) => {
    // nexrender keeps no more of an error than its message.
    say([`${error.message} (${error.code})`, ...(error.remedies ?? [])].join(' '))
    throw error
  })
  say(`${result.status} ${result.output}`)
  // What follows (copy, upload) takes the new file.
  if (!action.input) job.output = result.output
  return job
}
