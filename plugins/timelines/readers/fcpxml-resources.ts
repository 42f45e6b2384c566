import { nameOfPath, pathOfAddress } from '../media-path.js'
import { divide, ONE, type Rational, ZERO } from '../time/rational.js'
import type { TimelineSource } from '../timeline.js'
import { timeAttribute } from './fcpxml-values.js'
import { child, childElements, type XmlElement } from './xml-document.js'

/** Resources that the clips of an FCPXML refer to. */
export class FcpxmlResources {
  readonly #byId: ReadonlyMap<string, XmlElement>

  constructor(root: XmlElement) {
    this.#byId = new Map(child(root, 'resources')?.children.map((one) => [one.attributes.id ?? '', one]))
  }

  get assets(): readonly XmlElement[] {
    return [...this.#byId.values()].filter(({ name }) => name === 'asset')
  }

  asset(ref: string | undefined): XmlElement | undefined {
    return this.#named(ref, 'asset')
  }

  /** The sequence of a compound clip. */
  sequence(ref: string | undefined): XmlElement | undefined {
    return child(this.#named(ref, 'media'), 'sequence')
  }

  multicam(ref: string | undefined): XmlElement | undefined {
    return child(this.#named(ref, 'media'), 'multicam')
  }

  /** Frames a second of a sequence. */
  frameRate(sequence: XmlElement): Rational | undefined {
    const frame = timeAttribute(this.#named(sequence.attributes.format, 'format'), 'frameDuration')
    return frame && frame.numerator > 0n ? divide(ONE, frame) : undefined
  }

  #named(ref: string | undefined, name: string): XmlElement | undefined {
    const found = this.#byId.get(ref ?? '')
    return found?.name === name ? found : undefined
  }
}

/** The media file of an asset. */
export function assetSource(asset: XmlElement): TimelineSource {
  const path = pathOfAddress(assetAddress(asset)?.attributes.src ?? '')
  const name = nameOfPath(path) || (asset.attributes.name ?? '')
  const origin = timeAttribute(asset, 'start') ?? ZERO
  return { id: asset.attributes.id ?? '', name, paths: path === '' ? [] : [path], origin }
}

/** The element whose `src` is an asset's file: the asset itself (1.8), or its representation (since 1.9). */
export function assetAddress(asset: XmlElement): XmlElement | undefined {
  if (asset.attributes.src !== undefined) return asset
  const files = childElements(asset, 'media-rep').filter(({ attributes }) => attributes.src !== undefined)
  return files.find(({ attributes }) => (attributes.kind ?? 'original-media') === 'original-media') ?? files[0]
}

/** Checks whether an asset has sound; one that declares neither sound nor picture may have it. */
export function hasAudio({ attributes }: XmlElement): boolean {
  return attributes.hasAudio === undefined ? attributes.hasVideo === undefined : attributes.hasAudio === '1'
}
