env :PATH, ENV['PATH']
env :MAILTO, 'ops@example.org'
set :output, "#{path}/log/cron.log"
set :path, '/usr/apps/shop/current'
every 7.minutes do
  command "cd /usr/apps/shop/current && thor poll >> /usr/apps/shop/shared/log/poll.log"
end
