import type { ExitCode } from '../../src/core/errors.js'

const MEANINGS: Readonly<Record<ExitCode, readonly [meaning: string, next: string]>> = {
  0: ['Done, or already done.', 'Nothing.'],
  1: ['The job failed, and would fail again.', 'Read the message; the file or the service has to change.'],
  2: ['The command, the configuration or a path is wrong. Nothing was tried.', 'Mend the command.'],
  3: ['The service still works on it.', 'Run the same command again: it attaches.'],
  4: ['A passing fault: network, overload, full disk. Repeats were tried.', 'Run the same command again later.'],
  5: ['The local pre-check refuses the file. Nothing was sent.', 'Follow the remedy in the message.'],
  6: ['Authentication or access.', 'Check the credentials; no file is to blame.'],
  7: ['What came back does not hold what was promised. Nothing was published.', 'Report it with the message.'],
  130: ['Interrupted. Nothing is left behind.', 'Run the same command again: it attaches.'],
}

const WHEN_SEVERAL = 'With several inputs, the first of 130, 2, 6, 7, 1, 5, 4, 3, 0 that occurred is the exit code.'

/** Markdown table of the exit codes of the command line. */
export function exitCodeTable(): string {
  const rows = Object.entries(MEANINGS).map(([code, [meaning, next]]) => `| ${code} | ${meaning} | ${next} |`)
  return ['| exit code | meaning | what to do |', '| --- | --- | --- |', ...rows, '', WHEN_SEVERAL].join('\n')
}
