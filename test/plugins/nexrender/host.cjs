// Plays nexrender-core (packages/nexrender-core/src/tasks/actions.js): requires each postrender action by its name, one
// after another, and says how the job came out of them.
//
//   host.cjs JOB-JSON
const job = JSON.parse(process.argv[2])
const log = []
const settings = { logger: { log: (text) => log.push(text) } }
const actions = job.actions.postrender.map((action) => () => require(action.module)(job, settings, action, job.type))
actions
  .reduce((before, action) => before.then(action), Promise.resolve())
  .then(
    () => null,
    ({ code, message }) => ({ code, message }),
  )
  .then((error) => process.stdout.write(`${JSON.stringify({ output: job.output, log, error })}\n`))
