import type { Reporter, TestModule } from 'vitest/node'

/** Names, at the end of a run, the tests that passed only when they were asked again: each is a fault of the test or of voxmux. */
export default class SecondGoes implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const names = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => test.diagnostic()?.flaky)
        .map((test) => `  ${module.relativeModuleId} > ${test.fullName}: ${firstFault(test.result().errors)}\n`),
    )
    if (names.length > 0) process.stdout.write(`\nPassed only when asked again:\n${names.join('')}`)
  }
}

function firstFault(errors: readonly { message: string }[] | undefined): string {
  return errors?.[0]?.message.split('\n')[0] ?? 'no reason kept'
}
