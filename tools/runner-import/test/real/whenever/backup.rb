every 1.day, :at => '4:00 am' do
  command "backup perform --trigger shop -r /home/deploy/Backup"
  command "sudo service nginx reload"
  script "nightly", output: nil
end
every 1.day, at: '5am', mailto: 'me@example.org' do
  rake 'x', queue: 'low'
end
