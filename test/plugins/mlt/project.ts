/** Projects as Shotcut and Kdenlive save them, cut down to what they are made of. */

const profile = `<profile description="PAL" width="320" height="180" progressive="1" sample_aspect_num="1" sample_aspect_den="1" display_aspect_num="16" display_aspect_den="9" frame_rate_num="25" frame_rate_den="1" colorspace="709"/>`

/** A Shotcut project: clock times, chains, a muted track, a cross-fade that is a tractor of its own. */
export const shotcutProject = (root: string) => `<?xml version="1.0" standalone="no"?>
<mlt LC_NUMERIC="C" version="7.12.0" title="Shotcut version 23.05.14" root="${root}">
  ${profile}
  <producer id="black" in="00:00:00.000" out="00:00:02.760">
    <property name="length">00:00:02.800</property>
    <property name="resource">0</property>
    <property name="mlt_service">color</property>
  </producer>
  <playlist id="background"><entry producer="black" in="00:00:00.000" out="00:00:02.760"/></playlist>
  <chain id="chain0" out="00:00:01.960">
    <property name="length">00:00:02.000</property>
    <property name="resource">timecode.mov</property>
    <property name="mlt_service">avformat</property>
    <property name="shotcut:hash">0123456789abcdef0123456789abcdef</property>
    <property name="shotcut:caption">Take 1</property>
  </chain>
  <chain id="chain1" out="00:00:01.960">
    <property name="length">00:00:02.000</property>
    <property name="resource">timecode.mov</property>
    <property name="mlt_service">avformat</property>
  </chain>
  <tractor id="fade" in="00:00:00.000" out="00:00:00.360">
    <track producer="chain0" in="00:00:01.000" out="00:00:01.360"/>
    <track producer="chain1" in="00:00:01.600" out="00:00:01.960"/>
  </tractor>
  <playlist id="playlist0">
    <property name="shotcut:name">V1</property>
    <blank length="00:00:00.400"/>
    <entry producer="chain0" in="00:00:00.400" out="00:00:00.960"/>
    <entry producer="fade" in="00:00:00.000" out="00:00:00.360"/>
    <entry producer="chain1" in="00:00:00.000" out="00:00:00.160"/>
  </playlist>
  <playlist id="playlist1">
    <property name="shotcut:name">A1</property>
    <entry producer="chain0" in="00:00:00.000" out="00:00:01.960"/>
  </playlist>
  <tractor id="tractor0" title="Shotcut version 23.05.14" in="00:00:00.000" out="00:00:01.560">
    <property name="shotcut">1</property>
    <track producer="background"/>
    <track producer="playlist0"/>
    <track producer="playlist1" hide="both"/>
  </tractor>
</mlt>
`

/** A Kdenlive project: frames, a tractor a track, a proxy, a clip at twice its speed, the bin, a sequence inside. */
export const kdenliveProject = (root: string) => `<?xml version='1.0' encoding='utf-8'?>
<mlt LC_NUMERIC="C" producer="main_bin" root="${root}" version="7.12.0">
 ${profile}
 <producer id="producer0" in="0" out="49">
  <property name="length">50</property>
  <property name="resource">${root}/proxy/abc.mkv</property>
  <property name="mlt_service">avformat</property>
  <property name="kdenlive:proxy">${root}/proxy/abc.mkv</property>
  <property name="kdenlive:originalurl">${root}/timecode.mov</property>
  <property name="kdenlive:file_hash">00ff</property>
  <property name="kdenlive:file_size">680904</property>
 </producer>
 <producer id="producer1" in="0" out="36">
  <property name="length">37</property>
  <property name="resource">2:${root}/speech.wav</property>
  <property name="warp_resource">${root}/speech.wav</property>
  <property name="warp_speed">2</property>
  <property name="mlt_service">timewarp</property>
 </producer>
 <producer id="silent" in="0" out="49">
  <property name="length">50</property>
  <property name="resource">${root}/timecode.mov</property>
  <property name="set.test_audio">1</property>
  <property name="mlt_service">avformat</property>
 </producer>
 <playlist id="main_bin"><entry producer="producer0" in="0" out="49"/></playlist>
 <playlist id="a1"><blank length="10"/><entry producer="producer0" in="20" out="29"/></playlist>
 <playlist id="a2"><entry producer="producer1" in="5" out="14"/></playlist>
 <playlist id="v1"><entry producer="silent" in="0" out="49"/></playlist>
 <tractor id="track_a1" in="0" out="29"><track hide="video" producer="a1"/><track hide="video" producer="a2"/></tractor>
 <tractor id="track_v1" in="0" out="29"><track hide="audio" producer="v1"/></tractor>
 <tractor id="{inner}" in="0" out="29"><track producer="track_a1"/><track producer="track_v1"/></tractor>
 <tractor id="outer" in="0" out="99"><track producer="{inner}" in="0" out="14"/></tractor>
</mlt>
`

/** A project as `melt speech.wav in=10 out=39 -consumer xml:` saves it: entries count from where their producer begins. */
export const meltProject = (root: string) => `<?xml version="1.0" encoding="utf-8"?>
<mlt LC_NUMERIC="C" version="7.12.0" root="${root}" title="speech.wav">
  ${profile}
  <producer id="producer0" in="10" out="39">
    <property name="length">75</property>
    <property name="resource">speech.wav</property>
    <property name="mlt_service">avformat</property>
  </producer>
  <producer id="producer1" in="5" out="20">
    <property name="length">37</property>
    <property name="resource">2:timecode.mov</property>
    <property name="warp_speed">2</property>
    <property name="warp_resource">timecode.mov</property>
    <property name="mlt_service">timewarp</property>
  </producer>
  <playlist id="playlist0">
    <entry producer="producer0" in="5" out="14"/>
    <entry producer="producer0" in="25"/>
    <entry producer="producer1" in="2" out="6"/>
  </playlist>
  <tractor id="tractor0" in="0" out="19">
    <track producer="playlist0"/>
  </tractor>
</mlt>
`
