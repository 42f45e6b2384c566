/** Builders of OpenTimelineIO JSON as its own library writes it, for tests that vary a few values. */

const rationalTime = (value: number, rate: number) => ({ OTIO_SCHEMA: 'RationalTime.1', rate, value })

export const timeRange = (start: number, duration: number, rate: number) => ({
  OTIO_SCHEMA: 'TimeRange.1',
  start_time: rationalTime(start, rate),
  duration: rationalTime(duration, rate),
})

export const external = (url: string, available: object | null = null) => ({
  OTIO_SCHEMA: 'ExternalReference.1',
  metadata: {},
  name: '',
  available_range: available,
  available_image_bounds: null,
  target_url: url,
})

export const clip = (name: string, reference: object, range: object | null, more: object = {}) => ({
  OTIO_SCHEMA: 'Clip.2',
  metadata: {},
  name,
  source_range: range,
  effects: [],
  markers: [],
  enabled: true,
  media_references: { DEFAULT_MEDIA: reference },
  active_media_reference_key: 'DEFAULT_MEDIA',
  ...more,
})

export const track = (kind: 'Audio' | 'Video', children: readonly object[], more: object = {}) => ({
  OTIO_SCHEMA: 'Track.1',
  name: kind,
  kind,
  source_range: null,
  enabled: true,
  children,
  ...more,
})

export const stack = (children: readonly object[], more: object = {}) => ({
  OTIO_SCHEMA: 'Stack.1',
  name: 'tracks',
  source_range: null,
  children,
  ...more,
})

export const timeline = (tracks: readonly object[]) =>
  JSON.stringify({ OTIO_SCHEMA: 'Timeline.1', name: 'cut', global_start_time: null, tracks: stack(tracks) }, null, 4)
