/** How the sound lies in the segments of a rendition. A frame is a whole ADTS frame in every container. */
export interface SegmentFormat {
  /** The frames of a segment, in order. */
  framesOf(segment: Buffer): readonly Buffer[]
  /**
   * The same segment with other frames, as many as it had. Times, and everything that is not a frame, stay.
   *
   * Segments must be handed in in the order of the playlist.
   */
  withFrames(segment: Buffer, frames: readonly Buffer[]): Buffer
}
