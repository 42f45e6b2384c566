import type { ExitCode } from '../../src/core/errors.js'

/** The meaning of each exit code, and what to do about it. */
export const EXIT_CODES: Readonly<Record<ExitCode, readonly [meaning: string, next: string]>> = {
  0: ['Done, or already done.', 'Nothing.'],
  1: ['The job failed, and would fail again.', 'Read the message, then correct the file or the service.'],
  2: ['The command, the configuration or a path is wrong. Nothing was tried.', 'Correct what the message names.'],
  3: ['The service is still processing the file.', 'Run the same command again to collect it.'],
  4: [
    'A temporary fault: network, overload or full disk. The retries did not help.',
    'Run the same command again later.',
  ],
  5: ['The local pre-check refused the file. Nothing was sent.', 'Do what the message suggests.'],
  6: ['Authentication failed or access was denied.', 'Check the credentials; the file is not at fault.'],
  7: ['The output did not pass verification. A run published nothing.', 'Report it, with the message.'],
  130: ['Stopped by Ctrl-C. Nothing was lost.', 'Run the same command again to continue.'],
}

const WHEN_SEVERAL = 'With several inputs, the exit code is the first of 130, 2, 6, 7, 1, 5, 4, 3, 0 that occurred.'

/** Markdown table of the exit codes of the command line. */
export function exitCodeTable(): string {
  const rows = Object.entries(EXIT_CODES).map(([code, [meaning, next]]) => `| ${code} | ${meaning} | ${next} |`)
  return ['| exit code | meaning | what to do |', '| --- | --- | --- |', ...rows, '', WHEN_SEVERAL].join('\n')
}
