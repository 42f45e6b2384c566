import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'

const text = readFileSync(
  fileURLToPath(new URL('../../../../plugins/watch-folder/deploy/Dockerfile', import.meta.url)),
  'utf8',
)
/** The folder of dockerfile-utils and dockerfile-ast. */
const TOOLS = process.env.VOXMUX_DOCKERFILE_TOOLS ?? ''
if (!existsSync(TOOLS)) process.stderr.write('The Dockerfile is not parsed: VOXMUX_DOCKERFILE_TOOLS is not set.\n')

interface Instruction {
  getKeyword(): string
  getArgumentsContent(): string | null
}

describe.skipIf(!existsSync(TOOLS))('the Dockerfile', () => {
  const tool = (name: string) => createRequire(`${TOOLS}/`)(name)
  let instructions: readonly Instruction[]
  beforeAll(() => {
    instructions = tool('dockerfile-ast').DockerfileParser.parse(text).getInstructions()
  })
  const of = (keyword: string) =>
    instructions.filter((one) => one.getKeyword() === keyword).map((one) => one.getArgumentsContent() ?? '')

  it('has no fault that the linter finds', () => {
    expect(tool('dockerfile-utils').validate(text)).toEqual([])
  })

  it('starts from a base with a version, which a build can pin by its digest', () => {
    expect(of('FROM')).toEqual([expect.stringContaining('{BASE}')])
    const [base] = of('ARG')
    expect(base).toMatch(/^BASE=node:\d+-[a-z-]+$/)
    expect(instructions[0]?.getKeyword()).toBe('ARG')
  })

  it('runs as no root, with a health check, and downloads nothing but packages', () => {
    const order = instructions.map((one) => one.getKeyword())
    expect(of('USER')).toEqual(['node'])
    expect(order.lastIndexOf('USER')).toBeGreaterThan(order.lastIndexOf('RUN'))
    expect([of('HEALTHCHECK').length, of('EXPOSE'), of('ADD')]).toEqual([1, ['8780'], []])
    for (const command of of('RUN')) expect(command).not.toMatch(/\b(curl|wget|git)\b/)
  })

  it('holds no secret, and lists its packages', () => {
    for (const setting of [...of('ENV'), ...of('ARG')]) expect(setting).not.toMatch(/SECRET|TOKEN|PASSWORD|_KEY/i)
    expect(of('RUN').join('\n')).toMatch(/npm sbom --sbom-format=cyclonedx > \/usr\/share\/sbom\/voxmux\.cdx\.json/)
  })
})
