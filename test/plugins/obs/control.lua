-- Run by the real OBS Studio: does what a file tells it to, one word at a time, as a person does it by buttons. OBS
-- takes no notice of a button that is pressed too early, so the word waits until it means something.
local obs = obslua
local buttons = {
  start = { press = obs.obs_frontend_recording_start, recording = false },
  split = { press = obs.obs_frontend_recording_split_file, recording = true },
  stop = { press = obs.obs_frontend_recording_stop, recording = true },
}
local path

local function obey()
  local file = io.open(path)
  if not file then return end
  local button = buttons[file:read("*l")]
  file:close()
  if obs.obs_frontend_recording_active() ~= button.recording then return end
  os.remove(path)
  button.press()
end

function script_load(settings)
  path = obs.obs_data_get_string(settings, "path")
  obs.timer_add(obey, 50)
end
