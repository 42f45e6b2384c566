import { z } from 'zod'

const tags = z.record(z.string(), z.coerce.string()).default({})
/** ffprobe writes most numbers as strings and omits unknown ones (or writes `N/A`). */
const number = z
  .union([z.string(), z.number()])
  .optional()
  .transform((value) => {
    const parsed = value === undefined || value === '' ? Number.NaN : Number(value)
    return Number.isFinite(parsed) ? parsed : null
  })

const rawStreamSchema = z.object({
  index: z.int(),
  codec_name: z.string().optional(),
  codec_type: z.string().optional(),
  codec_tag_string: z.string().optional(),
  id: number,
  profile: z.coerce.string().optional(),
  sample_fmt: z.string().optional(),
  sample_rate: number,
  channels: number,
  channel_layout: z.string().optional(),
  bits_per_sample: number,
  bits_per_raw_sample: number,
  width: number,
  height: number,
  r_frame_rate: z.string().optional(),
  avg_frame_rate: z.string().optional(),
  sample_aspect_ratio: z.string().optional(),
  color_range: z.string().optional(),
  color_space: z.string().optional(),
  color_transfer: z.string().optional(),
  color_primaries: z.string().optional(),
  extradata_hash: z.string().optional(),
  time_base: z.string().default('1/1000'),
  start_time: number,
  duration: number,
  bit_rate: number,
  initial_padding: number,
  disposition: z.record(z.string(), z.number()).default({}),
  tags,
  side_data_list: z
    .array(z.looseObject({ side_data_type: z.string().default('unknown'), rotation: z.number().optional() }))
    .default([]),
})

/** The output of `ffprobe -show_format -show_streams -show_chapters -show_programs`, as far as voxmux reads it. */
export const ffprobeAnswerSchema = z.object({
  format: z.object({
    format_name: z.string(),
    start_time: number,
    duration: number,
    bit_rate: number,
    tags,
  }),
  streams: z.array(rawStreamSchema).default([]),
  chapters: z.array(z.object({ start_time: number, end_time: number, tags })).default([]),
  programs: z.array(z.object({ program_id: number, pmt_pid: number, tags })).default([]),
})

export type RawStream = z.infer<typeof rawStreamSchema>
export type FfprobeAnswer = z.infer<typeof ffprobeAnswerSchema>
