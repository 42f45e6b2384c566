import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { until } from '../../helpers/until.js'

const OBS = '/usr/bin/obs'
const XVFB = '/usr/bin/Xvfb'
const CONTROL = fileURLToPath(new URL('control.lua', import.meta.url))

/** Why no OBS Studio can be run on this machine; null where it can. */
export const NO_OBS = [OBS, XVFB].every((path) => existsSync(path))
  ? null
  : `${OBS} and ${XVFB} are not both installed (apt-get install obs-studio xvfb)`

/** A real OBS Studio, with a screen that nobody sees. */
export interface ObsStudio {
  /** What it recorded, by name, which says when. */
  recordings(): Promise<readonly string[]>
  /** Presses the button. */
  press(button: 'start' | 'split' | 'stop'): Promise<void>
  /** Lines that a script wrote into OBS's log. */
  saidBy(script: string): Promise<readonly string[]>
  /** Kills it in the middle of what it does, and starts it again. */
  crash(): Promise<void>
}

/**
 * Starts OBS until the end of the test, ready to record a small black picture into `<folder>/recordings`, in parts that
 * may begin every second.
 *
 * @param script a script of Tools > Scripts, with its settings
 */
export async function startObs(folder: string, script: { path: string; settings: object }): Promise<ObsStudio> {
  const [home, recordings, word] = [join(folder, 'home'), join(folder, 'recordings'), join(folder, 'press')]
  const config = join(home, '.config/obs-studio')
  const profile = join(config, 'basic/profiles/test')
  for (const path of [recordings, profile, join(config, 'basic/scenes')]) await mkdir(path, { recursive: true })
  await writeFile(
    join(config, 'global.ini'),
    `[General]\nFirstRun=true\nInfoIncrement=99\nEnableAutoUpdates=false
[Basic]\nProfile=test\nProfileDir=test\nSceneCollection=test\nSceneCollectionFile=test\n`,
  )
  await writeFile(
    join(profile, 'basic.ini'),
    `[General]\nName=test\n[Output]\nMode=Advanced
[AdvOut]\nRecType=Standard\nRecFilePath=${recordings}\nRecFormat=mkv\nRecEncoder=obs_x264\nRecTracks=1
RecSplitFile=true\nRecSplitFileType=Manual\nFilenameFormatting=%CCYY-%MM-%DD %hh-%mm-%ss
[Video]\nBaseCX=320\nBaseCY=180\nOutputCX=320\nOutputCY=180\nFPSCommon=10\n`,
  )
  await writeFile(join(profile, 'recordEncoder.json'), '{"keyint_sec":1,"rate_control":"CBR","bitrate":300}')
  const scripts = [{ path: CONTROL, settings: { path: word } }, script]
  const scene = {
    ...{ name: 'test', current_scene: 'Scene', current_program_scene: 'Scene', scene_order: [{ name: 'Scene' }] },
    ...{ sources: [{ id: 'scene', name: 'Scene', settings: { items: [] } }], modules: { 'scripts-tool': scripts } },
  }
  await writeFile(join(config, 'basic/scenes/test.json'), JSON.stringify(scene))
  const display = await startScreen()
  let stop = await runObs(home, display)
  return {
    crash: async () => {
      await stop()
      stop = await runObs(home, display)
    },
    recordings: async () => (await readdir(recordings)).sort().map((name) => join(recordings, name)),
    press: async (button) => {
      // Whole when it is there; and the last one was obeyed.
      await until(() => !existsSync(word))
      await writeFile(`${word}.part`, button)
      await rename(`${word}.part`, word)
    },
    saidBy: async (name) => {
      const logs = (await readdir(join(config, 'logs'))).sort()
      const lines = (await readFile(join(config, 'logs', logs.at(-1) ?? ''), 'utf8')).split('\n')
      return lines.flatMap((line) => line.split(`: ${name}] `)[1] ?? [])
    },
  }
}

/** @returns the display of an X server that draws into memory */
async function startScreen(): Promise<string> {
  const screen = spawn(XVFB, ['-displayfd', '1', '-screen', '0', '800x600x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void screen.kill())
  const [number] = await once(createInterface({ input: screen.stdout }), 'line')
  return `:${number}`
}

/** @returns how to kill it */
async function runObs(home: string, display: string): Promise<() => Promise<void>> {
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: home,
    XDG_RUNTIME_DIR: home,
    DISPLAY: display,
    PYTHONDONTWRITEBYTECODE: '1',
  }
  const flags = ['--multi', '--minimize-to-tray', '--disable-shutdown-check', '--disable-updater']
  const obs = spawn(OBS, ['--profile', 'test', '--collection', 'test', ...flags], {
    env: { ...env, LIBGL_ALWAYS_SOFTWARE: '1' },
    stdio: 'ignore',
  })
  const stop = async () => {
    obs.kill('SIGKILL')
    if (obs.exitCode === null && obs.signalCode === null) await once(obs, 'exit')
  }
  onTestFinished(stop)
  return stop
}
