# Windows recipe of `voxmux watch`, filled in by `voxmux init`: a task that starts with the computer, without a login.
# Run it as an administrator. It asks for the password of the user that the task runs as.
$words = @({{COMMAND}})
[Environment]::SetEnvironmentVariable('VOXMUX_STATE_DIR', '{{STATE_DIR}}', 'User')
$action = New-ScheduledTaskAction -Execute $words[0] -Argument ($words[1..($words.Length - 1)] -join ' ')
$trigger = New-ScheduledTaskTrigger -AtStartup
$settings = New-ScheduledTaskSettingsSet -RestartCount 999 -RestartInterval (New-TimeSpan -Minutes 1) `
  -ExecutionTimeLimit ([TimeSpan]::Zero) -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries
$account = Get-Credential -UserName '{{USER}}' -Message 'The user that voxmux runs as'
Register-ScheduledTask -TaskName 'voxmux watch' -Action $action -Trigger $trigger -Settings $settings `
  -User $account.UserName -Password $account.GetNetworkCredential().Password
Start-ScheduledTask -TaskName 'voxmux watch'
