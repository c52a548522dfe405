set :environment, :production
set :output, {:error => "log/cron_error_log.log", :standard => "log/cron_log.log"}
every 1.day, :at => '2:35 pm' do
  rake "mail_task:daily", :output => 'log/mail.log'
end
every :reboot do
  rake "thinking_sphinx:start"
end
every 60.minutes do
  rake "ts:index", :environment => 'staging'
end
