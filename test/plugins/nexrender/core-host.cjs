// Runs a job in the real nexrender-core and says how it came out. What its `init` would settle is given: that looks for
// After Effects where there can be one, on Windows and macOS.
//
//   core-host.cjs CORE JOB-JSON SETTINGS-JSON
const { render } = require(process.argv[2])
const log = []
const settings = {
  ...JSON.parse(process.argv[4]),
  __initialized: true,
  stopOnError: true,
  logger: { log: (text) => log.push(text) },
  track: () => {},
  trackCombined: () => {},
  trackSync: () => {},
}
render(JSON.parse(process.argv[3]), settings)
  .then(
    () => null,
    ({ message }) => message,
  )
  .then((error) => process.stdout.write(`${JSON.stringify({ error, log })}\n`))
