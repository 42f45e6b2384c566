import { TimelineSyntaxError } from '../timeline-error.js'
import {
  type AafObject,
  aafObject,
  CLASS,
  identityIn,
  integerIn,
  objectIn,
  objectsIn,
  PROPERTY,
  utf16In,
} from './aaf-objects.js'
import type { CompoundFile } from './compound-file.js'

/** The mobs of an AAF file: compositions, master clips, and the files and tapes behind them. */
export class AafContent {
  readonly mobs: ReadonlyMap<string, AafObject>
  /** Mobs whose sound is in the AAF file itself. */
  readonly embedded: ReadonlySet<string>
  /** Operations that change speed. */
  readonly timeWarps: ReadonlySet<string>

  /** @throws {TimelineSyntaxError} */
  constructor({ entries }: CompoundFile) {
    const [root] = entries
    const header = root && objectIn(aafObject(root), PROPERTY.header)
    const content = objectIn(header, PROPERTY.content)
    if (!content) throw new TimelineSyntaxError('it is not a readable AAF file: it has no content')
    const mobs = objectsIn(content, PROPERTY.mobs)
    this.mobs = new Map(mobs.map((mob) => [identityIn(mob, PROPERTY.mobId) ?? '', mob]))
    this.embedded = new Set(
      objectsIn(content, PROPERTY.essenceData).map((data) => identityIn(data, PROPERTY.essenceMobId) ?? ''),
    )
    const operations = objectsIn(objectIn(header, PROPERTY.dictionary), PROPERTY.operationDefinitions)
    const warps = operations.filter((one) => one.values.get(PROPERTY.isTimeWarp)?.data[0] === 1)
    this.timeWarps = new Set(warps.map((one) => identityIn(one, PROPERTY.identification) ?? ''))
  }

  /** Compositions that no other composition plays. */
  get tops(): readonly AafObject[] {
    const all = [...this.mobs].filter(([, mob]) => mob.classNumber === CLASS.compositionMob)
    const played = new Set(all.flatMap(([, mob]) => sourceIds(mob)))
    const tops = all.filter(([id]) => !played.has(id))
    return (tops.length > 0 ? tops : all).map(([, mob]) => mob)
  }
}

/** The ids of all mobs that clips in a mob name, however deep they lie. */
function sourceIds({ storage }: AafObject): readonly string[] {
  const ids: string[] = []
  const open = [storage]
  for (let at = open.pop(); at; at = open.pop()) {
    if (at.kind !== 'storage') continue
    const id = identityIn(aafObject(at), PROPERTY.sourceId)
    if (id !== undefined) ids.push(id)
    open.push(...at.children.values())
  }
  return ids
}

/** The slot of a mob with a number. */
export function slotOf(mob: AafObject, id: bigint | undefined): AafObject | undefined {
  const slots = SLOTS.get(mob) ?? slotsOf(mob)
  SLOTS.set(mob, slots)
  return slots.get(id)
}

/** By mob: thousands of clips can play one. */
const SLOTS = new WeakMap<AafObject, ReadonlyMap<bigint | undefined, AafObject>>()

/** The slots of a mob by number; of two with one number, the first. */
function slotsOf(mob: AafObject): ReadonlyMap<bigint | undefined, AafObject> {
  const slots = objectsIn(mob, PROPERTY.slots).map((slot) => [integerIn(slot, PROPERTY.slotId), slot] as const)
  return new Map(slots.reverse())
}

/** Tells whether a mob is a file, and not a tape, a film or an import without a file. */
export function isFile(mob: AafObject): boolean {
  const description = objectIn(mob, PROPERTY.description)
  const { filmDescriptor, tapeDescriptor, importDescriptor, recordingDescriptor } = CLASS
  const others: readonly number[] = [filmDescriptor, tapeDescriptor, importDescriptor, recordingDescriptor]
  return mob.classNumber === CLASS.sourceMob && !!description && !others.includes(description.classNumber)
}

/** The locators of a file, and their addresses. */
export function locatorsOf(mob: AafObject): readonly { readonly locator: AafObject; readonly url: string }[] {
  return objectsIn(objectIn(mob, PROPERTY.description), PROPERTY.locators).flatMap((locator) => {
    const url = locator.classNumber === CLASS.networkLocator ? utf16In(locator, PROPERTY.url) : undefined
    return url ? [{ locator, url }] : []
  })
}
